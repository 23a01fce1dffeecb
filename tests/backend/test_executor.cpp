// The executor on schedules written by hand, against the oracle.
#include <catch2/catch.hpp>

#include "backend/executor.hpp"
#include "backend/reference.hpp"
#include "planner/ir/verify.hpp"
#include "tests/backend/hand_schedules.hpp"
#include "tests/backend/pairwise.hpp"
#include "tests/backend/random_problem.hpp"

using namespace hsap;

namespace {

/// Verifies, executes, compares.
Execution check_execution(const Schedule& schedule, std::uint64_t seed) {
  verify(schedule, schedule.mask);
  const LayerInputs inputs = random_inputs(schedule.shape, schedule.mask.tokens(), seed);
  Execution execution = execute_on_cpu(schedule, inputs);
  const RelativeErrors errors = compare_all(execution.results, reference_attention(schedule.shape, schedule.mask, inputs));
  CHECK(errors.o < kTolerance);
  CHECK(errors.d_q < kTolerance);
  CHECK(errors.d_k < kTolerance);
  CHECK(errors.d_v < kTolerance);
  return execution;
}

/// The batch dealt to ranks in random pieces; some ranks may get nothing.
std::vector<TokenSet> deal(Random& random, Token tokens, int ranks) {
  std::vector<std::vector<TokenRange>> held(static_cast<std::size_t>(ranks));
  for (Token begin = 0; begin < tokens;) {
    const Token end = std::min<Token>(tokens, begin + random.between(1, 20));
    held[static_cast<std::size_t>(random.between(0, ranks - 1))].push_back({begin, end});
    begin = end;
  }
  return {held.begin(), held.end()};
}

AttentionShape small_shape(AttentionKind kind) {
  AttentionShape shape;
  shape.kind = kind;
  shape.query_heads = 4;
  shape.kv_heads = 2;
  shape.qk_dim = 8;
  shape.v_dim = 6;
  return shape;
}

}  // namespace

TEST_CASE("executor: one rank equals the oracle, softmax and linear, with every op timed") {
  for (const AttentionKind kind : {AttentionKind::softmax, AttentionKind::linear})
    for (unsigned seed = 0; seed < 5; ++seed) {
      CAPTURE(to_string(kind), seed);
      Random random(seed);
      AttentionShape shape = random_shape(random, kind);
      const DocumentMask mask = random_mask(random, 80, true);
      if (!mask.rule().is_causal()) shape.decay = 0;
      const Schedule schedule = one_rank(shape, mask);
      const Execution execution = check_execution(schedule, seed);
      REQUIRE(execution.timeline.forward.ranks.size() == 1);
      REQUIRE(execution.timeline.backward.ranks[0].size() == 1);
      const OpTime time = execution.timeline.forward.ranks[0][0];
      CHECK((0 <= time.begin && time.begin < time.end));
    }
}

TEST_CASE("executor: a ring of two ranks over interleaved tokens equals the oracle") {
  for (unsigned seed = 0; seed < 10; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const AttentionShape shape = random_shape(random, AttentionKind::softmax);
    const DocumentMask mask = random_mask(random, random.between(4, 100), true);
    std::vector<TokenSet> held = deal(random, mask.tokens(), 2);
    if (held[0].empty() || held[1].empty()) held = {TokenSet{{0, 2}}, TokenSet{{2, mask.tokens()}}};
    check_execution(ring(shape, mask, held), seed);
  }
}

TEST_CASE("executor: a linear-attention state goes forward and its gradient back") {
  for (unsigned seed = 0; seed < 10; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const AttentionShape shape = random_shape(random, AttentionKind::linear);
    const Token tokens = random.between(2, 300);
    check_execution(state_hop(shape, random.between(1, static_cast<int>(tokens) - 1), tokens), seed);
  }
}

TEST_CASE("executor: eight ranks with two streams each give the same bits ten times on whatever cores there are") {
  Random random(1);
  const DocumentMask mask = random_mask(random, 160, false);
  std::vector<TokenSet> held;
  for (Token rank = 0; rank < 8; ++rank)
    held.push_back(TokenSet{{rank * 10, rank * 10 + 10}, {150 - rank * 10, 160 - rank * 10}});
  const Schedule schedule = ring(small_shape(AttentionKind::softmax), mask, held);
  const LayerResults first = check_execution(schedule, 1).results;
  for (int repeat = 0; repeat < 10; ++repeat) {
    const LayerResults again = execute_on_cpu(schedule, random_inputs(schedule.shape, mask.tokens(), 1)).results;
    CHECK(again.o.values == first.o.values);
    CHECK(again.d_q.values == first.d_q.values);
    CHECK(again.d_k.values == first.d_k.values);
    CHECK(again.d_v.values == first.d_v.values);
  }
}

TEST_CASE("executor: `after` and streams order the measured times") {
  const Schedule schedule =
      ring(small_shape(AttentionKind::softmax), DocumentMask({0, 64}), {TokenSet{{0, 32}}, TokenSet{{32, 64}}});
  const Timeline timeline = check_execution(schedule, 1).timeline;
  for (const Phase phase : {Phase::forward, Phase::backward})
    for (RankId rank = 0; rank < 2; ++rank) {
      const std::vector<OpTime>& times = phase_of(timeline, phase).ranks[rank];
      const PooledList<Op>& ops = ops_of(schedule.ranks[rank], phase);
      REQUIRE(times.size() == ops.size());
      for (std::size_t i = 0; i < ops.size(); ++i) {
        CAPTURE(to_string(phase), rank, i);
        CHECK(times[i].begin <= times[i].end);
        for (const OpIndex earlier : ops[i].after) CHECK(times[earlier].end <= times[i].begin);
        for (std::size_t j = 0; j < i; ++j) CHECK((ops[j].stream != ops[i].stream || times[j].end <= times[i].begin));
      }
    }
}

TEST_CASE("executor: the dtype of buffers changes no bit, it only counts on the wire of the predictors") {
  Schedule schedule = one_rank(small_shape(AttentionKind::softmax), DocumentMask({0, 20}));
  const LayerInputs inputs = random_inputs(schedule.shape, 20, 1);
  const LayerResults fp32 = execute_on_cpu(schedule, inputs).results;
  for (Buffer& buffer : schedule.ranks[0].buffers) buffer.dtype = DType::bf16;
  CHECK(execute_on_cpu(schedule, inputs).results.o.values == fp32.o.values);
}
