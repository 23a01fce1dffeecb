#include <catch2/catch.hpp>

#include "planner/ir/errors.hpp"
#include "planner/ir/verify.hpp"
#include "tests/planner/hand_made.hpp"

using namespace hsap;
using namespace hsap::test;

namespace {

/// The schedule is refused, in one line with `fragment` in it.
void refuse(const Schedule& schedule, const std::string& fragment, const VerifyLimits& limits = {}) {
  INFO("expected: " << fragment);
  try {
    verify(schedule, schedule.mask, limits);
    FAIL_CHECK("accepted");
  } catch (const InvalidInput& error) {
    CHECK_THAT(error.what(), Catch::Contains(fragment));
    CHECK_THAT(error.what(), !Catch::Contains("\n"));
  }
}

std::vector<Op>& forward(Schedule& schedule, RankId rank) { return schedule.ranks[rank].forward; }
std::vector<Op>& backward(Schedule& schedule, RankId rank) { return schedule.ranks[rank].backward; }

template <class Body>
Body& body(Op& op) {
  return std::get<Body>(op.body);
}

/// Removes an op; ids and `after` of the others follow.
void drop(std::vector<Op>& ops, OpIndex dropped) {
  ops.erase(ops.begin() + dropped);
  for (OpIndex i = 0; i < ops.size(); ++i) {
    ops[i].id = i;
    std::erase(ops[i].after, dropped);
    for (OpIndex& earlier : ops[i].after) earlier -= earlier > dropped ? 1 : 0;
  }
}

}  // namespace

TEST_CASE("verify accepts each of the small schedules made by hand") {
  for (const Schedule& schedule : {local_attention(), two_rank_ring(), two_rank_ulysses(), two_rank_state_hop()})
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
  CHECK_THROWS_WITH(verify(schedule, DocumentMask({0, 3, 8}, 2)), Catch::Contains("window 2"));
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
    schedule.shape.window = 3;
    refuse(schedule, "its sliding window is 3, the mask's is none");
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
    refuse(schedule, "only gradients, and o of linear attention, are plain sums");
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

TEST_CASE("verify refuses reads of what is not there") {
  Schedule schedule = two_rank_ring();
  SECTION("before it is written") {
    std::swap(forward(schedule, 1)[2].body, forward(schedule, 1)[3].body);
    refuse(schedule,
           "rank 1, forward op 2 (merge, step 1): reads buffer 11 \"o hop\" (o) tokens [4, 8) head 0, which nothing ordered "
           "before it has written");
  }
  SECTION("a race between two streams: `after` is missing") {
    forward(schedule, 1)[2].after.clear();
    refuse(schedule, "rank 1, forward op 2 (attend, step 1): reads buffer 9 \"k hop\"");
  }
  SECTION("a race between two streams in backward") {
    backward(schedule, 1)[3].after.clear();
    refuse(schedule, "rank 1, backward op 3 (exchange, step 1): reads buffer");
  }
  SECTION("a row too few") {
    schedule.token_sets.push_back({{0, 3}});
    const auto fewer = static_cast<TokenSetId>(schedule.token_sets.size() - 1);
    for (Slice& part : body<Exchange>(forward(schedule, 0)[0]).sends[0].parts) part.tokens = fewer;
    for (Slice& part : body<Exchange>(forward(schedule, 1)[0]).recvs[0].parts) part.tokens = fewer;
    refuse(schedule, "reads buffer 9 \"k hop\" (k) tokens [3, 4) head 0, which nothing");
  }
  SECTION("an input of backward in forward") {
    Schedule local = local_attention();
    std::swap(local.ranks[0].forward, local.ranks[0].backward);
    refuse(local, "rank 0, forward op 0 (attend backward, step 0): reads buffer 4 \"d_o\" (d_o)");
  }
}

TEST_CASE("verify refuses writes of what is in use, of inputs, and of what nobody reads") {
  Schedule schedule = two_rank_ring();
  SECTION("an op twice") {
    auto& ops = forward(schedule, 1);
    ops.insert(ops.begin() + 3, ops[2]);
    for (OpIndex i = 0; i < ops.size(); ++i) ops[i].id = i;
    refuse(schedule,
           "rank 1, forward op 3 (attend, step 1): overwrites buffer 11 \"o hop\" (o) tokens [4, 8) heads 0 to 1, which op 2 "
           "wrote and nobody has read");
  }
  SECTION("a merge less") {
    drop(forward(schedule, 1), 3);
    refuse(schedule, "rank 1, after forward: buffer 3 \"o\" (o): query 4 meets key 2 0 times instead of once");
  }
  SECTION("something computed for nobody") {
    Op extra = forward(schedule, 1)[2];
    const auto& buffers = schedule.ranks[1].buffers;
    Attend& attend = body<Attend>(extra);
    schedule.ranks[1].buffers.push_back(buffers[attend.o.buffer]);
    schedule.ranks[1].buffers.push_back(buffers[attend.lse->buffer]);
    attend.o.buffer = static_cast<BufferId>(buffers.size() - 2);
    attend.lse->buffer = static_cast<BufferId>(buffers.size() - 1);
    extra.id = static_cast<OpIndex>(forward(schedule, 1).size());
    forward(schedule, 1).push_back(extra);
    refuse(
        schedule,
        "rank 1, forward op 4 (attend, step 1): writes buffer 16 \"o hop\" (o) tokens [4, 8) heads 0 to 1, which nobody reads");
  }
  SECTION("a receive over what another stream still reads") {
    // Rank 1 reuses "k hop" in a second round, while attend of the first round may still run.
    for (const RankId rank : {0u, 1u}) {
      Op second = forward(schedule, rank)[0];
      second.id = static_cast<OpIndex>(forward(schedule, rank).size());
      forward(schedule, rank).push_back(second);
    }
    refuse(schedule,
           "rank 1, forward op 4 (exchange, step 0): writes buffer 9 \"k hop\" (k) tokens [0, 4) head 0, which op 2 reads, but "
           "is not ordered behind it");
    forward(schedule, 1)[4].after = {2};
    CHECK_NOTHROW(verify(schedule, schedule.mask));
  }
  SECTION("the same rows received twice in one exchange") {
    for (Message& message : body<Exchange>(forward(schedule, 0)[0]).sends) message.parts.push_back(message.parts[0]);
    for (Message& message : body<Exchange>(forward(schedule, 1)[0]).recvs) message.parts.push_back(message.parts[0]);
    refuse(schedule,
           "rank 1, forward op 0 (exchange, step 0): writes buffer 9 \"k hop\" (k) tokens [0, 4) head 0, which it also writes");
  }
}

TEST_CASE("verify refuses a copy into an input of the layer") {
  HandMade made(local_attention().shape, DocumentMask({0, 3, 8}), {{{0, 8}}});
  const BufferId spare = made.add_buffer(0, Role::k, TokenSet{{0, 8}}, made.kv_heads(), "spare");
  made.attend_locally(0);
  made.add(0, Phase::forward, Copy{{{made.all(0, made.boundary(0).k), made.all(0, spare)}}});
  made.add(0, Phase::forward, Copy{{{made.all(0, spare), made.all(0, made.boundary(0).k)}}});
  made.attend_backward_locally(0);
  refuse(made.schedule, "op 2 (copy, step 0): writes buffer 1 \"k\" (k), which is an input of the layer");
}

TEST_CASE("verify refuses pairs that enter twice or never") {
  Schedule schedule = two_rank_ring();
  SECTION("a merge twice") {
    auto& ops = forward(schedule, 1);
    ops.push_back(ops[3]);
    ops.back().id = 4;
    refuse(schedule, "rank 1, after forward: buffer 3 \"o\" (o): query 4 meets key 2 2 times instead of once (query head 0)");
  }
  SECTION("a key too few") {
    schedule.token_sets.push_back({{0, 3}});
    Attend& attend = body<Attend>(forward(schedule, 1)[2]);
    attend.k.tokens = attend.v.tokens = static_cast<TokenSetId>(schedule.token_sets.size() - 1);
    refuse(schedule, "query 4 meets key 3 0 times instead of once");
  }
  SECTION("keys of another document are harmless: the mask is implicit") {
    schedule.token_sets.push_back({{2, 4}});
    Attend& attend = body<Attend>(forward(schedule, 1)[2]);
    attend.k.tokens = attend.v.tokens = static_cast<TokenSetId>(schedule.token_sets.size() - 1);
    CHECK_NOTHROW(verify(schedule, schedule.mask));
  }
  SECTION("keys that a window hides are harmless, those it shows are not") {
    schedule.shape.window = 2;
    schedule.mask = DocumentMask({0, 2, 8}, 2);
    CHECK_NOTHROW(verify(schedule, schedule.mask));
    schedule.token_sets.push_back({{3, 4}});
    Attend& attend = body<Attend>(forward(schedule, 1)[2]);
    attend.k.tokens = attend.v.tokens = static_cast<TokenSetId>(schedule.token_sets.size() - 1);
    CHECK_NOTHROW(verify(schedule, schedule.mask));
    schedule.token_sets.back() = TokenSet{{0, 3}};
    refuse(schedule, "query 4 meets key 3 0 times instead of once");
  }
  SECTION("a head too few") {
    Attend& attend = body<Attend>(forward(schedule, 1)[1]);
    attend.q.heads = attend.o.heads = attend.lse->heads = {0, 1};
    refuse(schedule, "\"o\" (o) tokens [4, 8) head 1, which nothing ordered before it has written");
  }
  SECTION("a result that nobody wrote") {
    drop(forward(schedule, 0), 1);
    refuse(schedule, "rank 0, after forward: buffer 3 \"o\" (o) holds 0 of the rank's 4 tokens for head 0");
  }
  SECTION("backward before the softmax is whole") {
    Op attend = backward(schedule, 1)[0];
    body<AttendBackward>(attend).o = body<Merge>(forward(schedule, 1)[3]).from_o;
    body<AttendBackward>(attend).lse = body<Merge>(forward(schedule, 1)[3]).from_lse;
    backward(schedule, 1)[0] = attend;
    refuse(schedule,
           "rank 1, backward op 0 (attend backward, step 0): reads buffer 11 \"o hop\" (o), which is not the whole softmax: "
           "query 4 meets key 4 0 times");
  }
  SECTION("o and lse of different keys") {
    body<AttendBackward>(backward(schedule, 1)[0]).lse = body<Merge>(forward(schedule, 1)[3]).from_lse;
    refuse(schedule, "have not seen the same keys");
  }
}

TEST_CASE("verify refuses gradients that do not come home") {
  Schedule schedule = two_rank_ring();
  SECTION("not added at the owner") {
    drop(backward(schedule, 0), 2);
    refuse(schedule, "rank 0, after backward: buffer 6 \"d_k\" (d_k): query 4 meets key 3 0 times instead of once");
  }
  SECTION("dQ of the second block not added") {
    drop(backward(schedule, 1), 2);
    refuse(schedule, "rank 1, after backward: buffer 5 \"d_q\" (d_q): query 4 meets key 2 0 times instead of once");
  }
  SECTION("dV not added, dK twice") {
    Accumulate& home = body<Accumulate>(backward(schedule, 0)[2]);
    home.terms[1] = home.terms[0];
    refuse(schedule, "rank 0, after backward: buffer 6 \"d_k\" (d_k): query 4 meets key 3 2 times");
  }
}

TEST_CASE("verify counts each query head of a shared kv head") {
  Schedule schedule = two_rank_ulysses();
  SECTION("the other head's gradient is not added") {
    drop(backward(schedule, 0), 5);
    refuse(schedule,
           "rank 0, after backward: buffer 6 \"d_k\" (d_k): query 0 meets key 0 0 times instead of once (query head 1)");
  }
  SECTION("the own head's gradient is added twice") {
    auto& ops = backward(schedule, 0);
    Copy& copy = body<Copy>(ops[4]);
    ops[5].body = Accumulate{{copy.terms[1], copy.terms[2]}};
    refuse(schedule, "query 0 meets key 0 2 times instead of once (query head 0)");
  }
}

TEST_CASE("verify holds states to one document and one order") {
  Schedule schedule = two_rank_state_hop();
  const auto set = [&](const TokenSet& tokens) {
    schedule.token_sets.push_back(tokens);
    return static_cast<TokenSetId>(schedule.token_sets.size() - 1);
  };
  SECTION("a state of two documents") {
    StateUpdate& update = body<StateUpdate>(forward(schedule, 0)[0]);
    const TokenSetId more = set({{1, 4}});
    update.a.tokens = update.b.tokens = update.state.tokens = more;
    schedule.ranks[0].buffers[update.state.buffer].tokens = more;
    refuse(schedule, "joins tokens 1 and 3 in one state; the document ends at 2");
  }
  SECTION("a state that does not hold what it says") {
    StateUpdate& update = body<StateUpdate>(forward(schedule, 0)[0]);
    update.a.tokens = update.b.tokens = set({{3, 4}});
    refuse(schedule, "of tokens [2, 4), but sums [3, 4)");
  }
  SECTION("rows of another document") {
    StateApply& apply = body<StateApply>(forward(schedule, 1)[2]);
    apply.x.tokens = apply.out.tokens = set({{4, 7}});
    schedule.ranks[1].buffers[apply.out.buffer].tokens = apply.out.tokens;
    refuse(schedule, "joins tokens 2 and 6 in one state; the document ends at 6");
  }
  SECTION("a state of later tokens") {
    StateUpdate& update = body<StateUpdate>(forward(schedule, 0)[0]);
    const Attend& attend = body<Attend>(forward(schedule, 0)[2]);
    StateApply apply{attend.q, update.state, attend.o, false};
    apply.x.tokens = apply.out.tokens = set({{3, 4}});
    Op op = forward(schedule, 0)[0];
    op.id = 3;
    op.body = apply;
    forward(schedule, 0).push_back(op);
    refuse(schedule, "applies a state of tokens [2, 4) to rows [3, 4); all of it must lie before them");
  }
  SECTION("transposed the wrong way") {
    body<StateApply>(forward(schedule, 1)[2]).transposed = true;
    refuse(schedule, "must not transpose the state");
  }
  SECTION("the state's part of o twice") {
    Op again = forward(schedule, 1)[3];
    again.id = 4;
    forward(schedule, 1).push_back(again);
    refuse(schedule, "query 4 meets key 2 2 times");
  }
  SECTION("the state's part of dV missing") {
    body<Accumulate>(backward(schedule, 0)[4]).terms.pop_back();
    refuse(schedule, "rank 0, after backward: buffer 7 \"d_v\" (d_v): query 4 meets key 3 0 times");
  }
  SECTION("a sliding window") {
    schedule.shape.window = 2;
    schedule.mask = DocumentMask(schedule.mask.offsets(), 2);
    refuse(schedule, "cannot respect a sliding window");
  }
  SECTION("softmax") {
    schedule.shape.kind = AttentionKind::softmax;
    refuse(schedule, "softmax attention has no state");
  }
}

TEST_CASE("verify refuses a plan that does not fit into memory and names the largest term") {
  const Schedule schedule = two_rank_ring();
  CHECK_NOTHROW(verify(schedule, schedule.mask, {1e6}));
  refuse(schedule, "the largest term is \"q\"", {100.0});
}

TEST_CASE("verify does not hang on values added to themselves over and over") {
  HandMade made(local_attention().shape, DocumentMask({0, 3, 8}), {{{0, 8}}});
  const RankBoundary b = made.boundary(0);
  const BufferId other = made.add_buffer(0, Role::d_q, TokenSet{{0, 8}}, made.query_heads(), "other");
  made.attend_locally(0);
  made.attend_backward_locally(0);
  made.add(0, Phase::backward, Copy{{{made.all(0, b.d_q), made.all(0, other)}}});
  for (int i = 0; i < 100; ++i) {
    made.add(0, Phase::backward, Accumulate{{{made.all(0, other), made.all(0, b.d_q)}}});
    made.add(0, Phase::backward, Accumulate{{{made.all(0, b.d_q), made.all(0, other)}}});
  }
  refuse(made.schedule, "adds up more than 1048576 partial results");
}
