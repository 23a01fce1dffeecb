// What verify() finds by following the data: races, what is missing or counted twice, memory. (States: test_verify_states.cpp.)
#include "planner/ir/verify.hpp"

#include <catch2/catch.hpp>

#include "tests/planner/hand_made.hpp"
#include "tests/planner/refusals.hpp"

using namespace hsap;
using namespace hsap::test;

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
    schedule.shape.mask = window_rule(2);
    schedule.mask = DocumentMask({0, 2, 8}, window_rule(2));
    CHECK_NOTHROW(verify(schedule, schedule.mask));
    schedule.token_sets.push_back({{3, 4}});
    Attend& attend = body<Attend>(forward(schedule, 1)[2]);
    attend.k.tokens = attend.v.tokens = static_cast<TokenSetId>(schedule.token_sets.size() - 1);
    CHECK_NOTHROW(verify(schedule, schedule.mask));
    schedule.token_sets.back() = TokenSet{{0, 3}};
    refuse(schedule, "query 4 meets key 3 0 times instead of once");
  }
  SECTION("later keys must be computed where the mask shows them") {
    schedule.shape.mask = parse_mask_rule("ahead:1");
    schedule.mask = DocumentMask({0, 2, 8}, schedule.shape.mask);
    refuse(schedule, "query 3 meets key 4 0 times instead of once");
  }
  SECTION("a sink must be computed although the window has left it behind") {
    schedule.shape.mask = parse_mask_rule("sinks:1,window:2");
    schedule.mask = DocumentMask({0, 2, 8}, schedule.shape.mask);
    CHECK_NOTHROW(verify(schedule, schedule.mask));
    schedule.token_sets.push_back({{3, 4}});
    Attend& attend = body<Attend>(forward(schedule, 1)[2]);
    attend.k.tokens = attend.v.tokens = static_cast<TokenSetId>(schedule.token_sets.size() - 1);
    refuse(schedule, "query 4 meets key 2 0 times instead of once");
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

TEST_CASE("verify accepts the zero gradient of a rank without queries, once") {
  // Rank 1 owns nothing but takes part in a reduce-scatter as published: it adds zero to dK and dV of rank 0.
  const TokenSet everything{{0, 8}};
  HandMade made(local_attention().shape, DocumentMask({0, 3, 8}), {everything, {}});
  const auto kv = [&](RankId rank, Role role) {
    return made.all(rank, made.add_buffer(rank, role, everything, made.kv_heads(), to_string(role) + " of all"));
  };
  const RankBoundary b0 = made.boundary(0);
  const RankBoundary b1 = made.boundary(1);
  const Slice k = kv(1, Role::k), v = kv(1, Role::v), d_k = kv(1, Role::d_k), d_v = kv(1, Role::d_v);
  const Slice d_k_home = kv(0, Role::d_k), d_v_home = kv(0, Role::d_v);
  made.add(0, Phase::forward, Exchange{{{1, {made.all(0, b0.k), made.all(0, b0.v)}}}, {}});
  made.add(1, Phase::forward, Exchange{{}, {{0, {k, v}}}});
  made.attend_locally(0);
  const auto none = [&](BufferId buffer) { return made.all(1, buffer); };
  const OpIndex zero =
      made.add(1, Phase::backward,
               AttendBackward{none(b1.q), k, v, none(b1.o), none(made.lse(1)), none(b1.d_o), none(b1.d_q), d_k, d_v});
  made.add(1, Phase::backward, Exchange{{{0, {d_k, d_v}}}, {}}, {zero});
  made.attend_backward_locally(0);
  const OpIndex home = made.add(0, Phase::backward, Exchange{{}, {{1, {d_k_home, d_v_home}}}});
  const Accumulate add{{{d_k_home, made.all(0, b0.d_k)}, {d_v_home, made.all(0, b0.d_v)}}};
  made.add(0, Phase::backward, add, {home});
  CHECK_NOTHROW(verify(made.schedule, made.schedule.mask));
  made.add(0, Phase::backward, add);
  refuse(made.schedule, "buffer 6 \"d_k\" (d_k): the zero of rank 1 enters twice");
}

TEST_CASE("verify refuses a partial result that enters twice even where no query sees it") {
  // Rank 0 attends the block it receives, all of it later than its queries, and merges the nothing that comes out.
  const TokenSet first{{0, 4}};
  const TokenSet second{{4, 8}};
  HandMade made(local_attention().shape, DocumentMask({0, 8}), {first});
  made.schedule = two_rank_ring();
  const BufferId o = made.add_buffer(0, Role::o, first, made.query_heads(), "o hop");
  const BufferId lse = made.add_buffer(0, Role::lse, first, made.query_heads(), "lse hop");
  const RankBoundary b = made.boundary(0);
  const Attend local = std::get<Attend>(forward(made.schedule, 0)[1].body);
  const SliceList hop = std::get<Exchange>(forward(made.schedule, 0)[0].body).recvs[0].parts;
  made.add(0, Phase::forward, Attend{made.all(0, b.q), hop[0], hop[1], made.all(0, o), made.all(0, lse)}, {0}, 1);
  const Merge merge{made.all(0, o), made.all(0, lse), local.o, *local.lse};
  made.add(0, Phase::forward, merge, {}, 1);
  CHECK_NOTHROW(verify(made.schedule, made.schedule.mask));
  made.add(0, Phase::forward, merge, {}, 1);
  refuse(made.schedule, "rank 0, after forward: buffer 3 \"o\" (o): the partial result over keys [4, 8) enters twice");
}
