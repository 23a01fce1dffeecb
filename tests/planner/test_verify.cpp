// The structure of schedules: batch, boundary, ops, slices, messages.
#include "planner/ir/verify.hpp"

#include <catch2/catch.hpp>

#include "tests/planner/hand_made.hpp"
#include "tests/planner/refusals.hpp"

using namespace hsap;
using namespace hsap::test;

TEST_CASE("verify accepts each of the small schedules made by hand") {
  for (const Schedule& schedule :
       {local_attention(), two_rank_ring(), two_rank_ulysses(), two_rank_state_hop(), three_rank_state_sum()})
    CHECK_NOTHROW(verify(schedule, schedule.mask));
}

TEST_CASE("verify accepts a rank without tokens") {
  HandMade made(local_attention().shape, DocumentMask({0, 3, 8}), {{{0, 8}}, {}});
  made.attend_locally(0);
  made.attend_backward_locally(0);
  CHECK_NOTHROW(verify(made.schedule, made.schedule.mask));
}

TEST_CASE("verify refuses another batch than the schedule was made for") {
  const Schedule schedule = local_attention();
  CHECK_THROWS_WITH(verify(schedule, DocumentMask({0, 4, 8})),
                    Catch::Contains("made for another batch") && Catch::Contains("document 1 starts at 3 there, at 4 here"));
  CHECK_THROWS_WITH(verify(schedule, DocumentMask({0, 3, 8}, window_rule(2))), Catch::Contains("window 2"));
  CHECK_THROWS_WITH(verify(schedule, DocumentMask({0, 3, 8, 9})), Catch::Contains("8 tokens in 2 documents"));
}

TEST_CASE("verify refuses a layer, degrees or token sets that make no sense") {
  Schedule schedule = local_attention();
  SECTION("heads that do not divide") {
    schedule.shape.kv_heads = 3;
    refuse(schedule, "3 kv heads do not divide 4 query heads");
  }
  SECTION("no heads") {
    schedule.shape.kv_heads = 0;
    refuse(schedule, "kv_heads is 0");
  }
  SECTION("a window that the mask does not have") {
    schedule.shape.mask = window_rule(3);
    refuse(schedule, "its mask rule is \"window 3\", the batch's is \"causal\"");
  }
  SECTION("degrees") {
    schedule.degrees = {2, 1};
    refuse(schedule, "degrees 2x1 do not make 1 ranks");
  }
  SECTION("set 0 is not empty") {
    schedule.token_sets[0] = TokenSet{{0, 1}};
    refuse(schedule, "set 0 must be the empty set");
  }
  SECTION("a set twice") {
    schedule.token_sets.push_back(schedule.token_sets[1]);
    refuse(schedule, "set 2 equals set 1");
  }
  SECTION("a set outside the batch") {
    schedule.token_sets.push_back({{7, 9}});
    refuse(schedule, "set 2 reaches from 7 to 9, the batch from 0 to 8");
  }
}

TEST_CASE("verify refuses ownership that is no partition") {
  Schedule schedule = two_rank_ring();
  SECTION("a token of nobody") {
    schedule.token_sets[schedule.ranks[0].tokens] = TokenSet{{0, 3}};
    refuse(schedule, "token 3 is owned by 0 ranks");
  }
  SECTION("a token of two") {
    schedule.token_sets[schedule.ranks[1].tokens] = TokenSet{{3, 8}};
    refuse(schedule, "token 3 is owned by 2 ranks");
  }
}

TEST_CASE("verify refuses a boundary that is not complete") {
  Schedule schedule = local_attention();
  RankBoundary& boundary = schedule.ranks[0].boundary;
  SECTION("wrong role") {
    std::swap(boundary.q, boundary.d_q);
    refuse(schedule, "boundary q is buffer");
  }
  SECTION("not all heads") {
    schedule.ranks[0].buffers[boundary.k].heads = {0, 1};
    refuse(schedule, "boundary k has head 0, expected all 2");
  }
  SECTION("not the tokens owned") {
    schedule.token_sets.push_back({{0, 7}});
    schedule.ranks[0].buffers[boundary.o].tokens = 2;
    refuse(schedule, "boundary o holds tokens [0, 7), the rank owns [0, 8)");
  }
  SECTION("no such buffer") {
    boundary.v = 99;
    refuse(schedule, "boundary v is buffer 99");
  }
}

TEST_CASE("verify refuses ops with wrong ids, streams or after") {
  Schedule schedule = two_rank_ring();
  SECTION("id") {
    forward(schedule, 1)[1].id = 7;
    refuse(schedule, "stands at position 1");
  }
  SECTION("an exchange that computes") {
    forward(schedule, 1)[0].stream = kComputeStream;
    refuse(schedule, "rank 1, forward op 0 (exchange, step 0): runs on stream 0");
  }
  SECTION("a computation on a communication stream") {
    forward(schedule, 1)[2].stream = 1;
    refuse(schedule, "runs on stream 1");
  }
  SECTION("no such stream") {
    forward(schedule, 1)[0].stream = 99;
    refuse(schedule, "runs on stream 99");
  }
  SECTION("after itself") {
    forward(schedule, 1)[2].after = {2};
    refuse(schedule, "is to run after op 2");
  }
}

TEST_CASE("verify refuses slices that do not fit their buffers or each other") {
  Schedule schedule = two_rank_ring();
  Attend& attend = body<Attend>(forward(schedule, 1)[2]);
  SECTION("no such buffer") {
    attend.k.buffer = 99;
    refuse(schedule, "names buffer 99");
  }
  SECTION("no such token set") {
    attend.k.tokens = 99;
    refuse(schedule, "names token set 99");
  }
  SECTION("tokens the buffer does not hold") {
    attend.k.tokens = schedule.ranks[1].tokens;
    refuse(schedule, "takes tokens [4, 8) of buffer 9 \"k hop\" (k), which holds [0, 4)");
  }
  SECTION("no token") {
    attend.q.tokens = 0;
    refuse(schedule, "takes no token of");
  }
  SECTION("no head") {
    attend.q.heads = {1, 1};
    refuse(schedule, "takes no head of");
  }
  SECTION("heads the buffer does not hold") {
    attend.q.heads = {0, 3};
    refuse(schedule, "takes heads 0 to 2 of");
  }
  SECTION("wrong role") {
    std::swap(attend.k, attend.v);
    refuse(schedule, "where it needs a buffer of role k");
  }
  SECTION("fewer rows of v than of k") {
    schedule.token_sets.push_back({{0, 3}});
    attend.v.tokens = static_cast<TokenSetId>(schedule.token_sets.size() - 1);
    refuse(schedule, "takes tokens [0, 4) of buffer 9 \"k hop\" (k) but [0, 3) of buffer 10 \"v hop\" (v)");
  }
  SECTION("softmax without lse") {
    attend.lse.reset();
    refuse(schedule, "has no lse");
  }
  SECTION("merging into itself") {
    Merge& merge = body<Merge>(forward(schedule, 1)[3]);
    merge.from_o = merge.o;
    refuse(schedule, "merges a buffer into itself");
  }
  SECTION("adding up o of softmax") {
    Merge& merge = body<Merge>(forward(schedule, 1)[3]);
    forward(schedule, 1)[3].body = Accumulate{{{merge.from_o, merge.o}}};
    refuse(schedule, "those of softmax are merged");
  }
}

TEST_CASE("verify refuses kv heads that do not serve the query heads") {
  Schedule schedule = local_attention();
  Attend& attend = body<Attend>(forward(schedule, 0)[0]);
  attend.k.heads = attend.v.heads = {0, 1};
  refuse(schedule, "takes kv head 0 for query heads 0 to 3, which kv heads 0 to 1 serve");
}

TEST_CASE("verify refuses messages that do not meet") {
  Schedule schedule = two_rank_ring();
  Exchange& exchange = body<Exchange>(forward(schedule, 0)[0]);
  SECTION("to itself") {
    exchange.sends[0].peer = 0;
    refuse(schedule, "sends to rank 0, which is itself");
  }
  SECTION("to nobody") {
    exchange.sends[0].peer = 2;
    refuse(schedule, "sends to rank 2, there are 2 ranks");
  }
  SECTION("a send that nobody receives") {
    body<Exchange>(forward(schedule, 1)[0]).recvs.clear();
    refuse(schedule,
           "rank 0, forward op 0 (exchange, step 0): sends to rank 1, which never receives it: 1 messages sent, 0 received");
  }
  SECTION("a receive that nobody sends") {
    exchange.sends.clear();
    refuse(schedule, "rank 1, forward op 0 (exchange, step 0): receives from rank 0, which never sends it");
  }
  SECTION("two messages to one peer") {
    exchange.sends.push_back(exchange.sends[0]);
    refuse(schedule, "sends to rank 1 two messages");
  }
  SECTION("no message") {
    exchange = {};
    refuse(schedule, "has no message");
  }
  SECTION("a message without parts") {
    exchange.sends[0].parts.clear();
    refuse(schedule, "a message without parts");
  }
  SECTION("parts in another order") {
    std::swap(exchange.sends[0].parts[0], exchange.sends[0].parts[1]);
    refuse(schedule, "part 0: v bf16 [0, 4) head 0, which expects k bf16 [0, 4) head 0");
  }
  SECTION("one part less") {
    exchange.sends[0].parts.pop_back();
    refuse(schedule, "1 parts, which expects 2");
  }
  SECTION("another dtype") {
    schedule.ranks[1].buffers[body<Exchange>(forward(schedule, 1)[0]).recvs[0].parts[0].buffer].dtype = DType::fp32;
    refuse(schedule, "part 0: k bf16 [0, 4) head 0, which expects k fp32");
  }
}

TEST_CASE("verify refuses ranks that wait for each other") {
  // Each rank sends in one exchange and receives in the next: both wait for the other's second exchange.
  Schedule schedule = two_rank_ring();
  for (const RankId rank : {0u, 1u}) {
    auto& ops = forward(schedule, rank);
    Op second = ops[0];
    body<Exchange>(ops[0]).recvs.clear();
    body<Exchange>(second).sends.clear();
    ops.insert(ops.begin() + 1, second);
    for (OpIndex i = 0; i < ops.size(); ++i) {
      ops[i].id = i;
      for (OpIndex& earlier : ops[i].after) ++earlier;
    }
  }
  refuse(schedule,
         "the ranks wait for each other for ever: rank 0, forward op 0 (exchange, step 0) waits for "
         "rank 1, forward op 1 (exchange, step 0) waits for rank 1, forward op 0");
}

TEST_CASE("verify refuses messages to one peer from two streams without an order") {
  Schedule schedule = two_rank_ring();
  for (const RankId rank : {0u, 1u}) {
    Op second = forward(schedule, rank)[0];
    second.id = static_cast<OpIndex>(forward(schedule, rank).size());
    second.stream = 2;
    forward(schedule, rank).push_back(second);
  }
  refuse(schedule, "sends to rank 1 as op 0 does, on another stream and not ordered by `after`");
}
