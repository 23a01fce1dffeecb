// Exchanges of what documents need, by every way of moving it: results equal the double-precision oracle, and the choice of the
// cheaper way per pair of groups never sends more than either way alone.
#include <catch2/catch.hpp>

#include <numeric>

#include "backend/reference.hpp"
#include "planner/ir/verify.hpp"
#include "planner/ir/work.hpp"
#include "tests/conformance/problems.hpp"

namespace hsap {
namespace {

constexpr double kTolerance = 1e-5;  // fp32 against double on a few hundred tokens

AttentionShape shape_of(int query_heads, int kv_heads, MaskRule mask = {}) {
  return {.kind = AttentionKind::softmax,
          .query_heads = query_heads,
          .kv_heads = kv_heads,
          .qk_dim = 12,
          .v_dim = 8,
          .dtype = DType::bf16,
          .mask = mask};
}

void require_equal_to_oracle(const std::string& strategy, const Problem& problem,
                             const std::vector<StrategyOptions>& option_sets) {
  const LayerInputs inputs = random_inputs(problem.shape, problem.mask.tokens(), 5);
  const LayerResults reference = reference_attention(problem.shape, problem.mask, inputs);
  for (const Degrees& degrees : find_strategy(strategy).degrees(problem))
    for (const StrategyOptions& options : option_sets) {
      INFO(strategy << " " << to_string(degrees) << " " << to_string(options) << " on " << problem.mask.tokens() << " tokens");
      const Schedule schedule = find_strategy(strategy).lower(problem, degrees, options);
      REQUIRE_NOTHROW(verify(schedule, problem.mask));
      const RelativeErrors errors = compare_all(execute_on_cpu(schedule, inputs).results, reference);
      CAPTURE(errors.o, errors.d_q, errors.d_k, errors.d_v);
      REQUIRE(errors.largest() < kTolerance);
    }
}

/// Keys to queries, queries to keys, mixed, and both to third groups; all else that changes the programs.
std::vector<StrategyOptions> ways_to_move(const std::string& placement) {
  std::vector<StrategyOptions> result;
  for (const Moving moving : {Moving::kv, Moving::q, Moving::cheaper, Moving::tiles})
    for (const KvForBackward kv : {KvForBackward::kept, KvForBackward::again})
      for (const int stages : {1, 3}) result.push_back({.placement = placement, .stages = stages, .kv = kv, .moving = moving});
  return result;
}

TEST_CASE("keys or queries may move: grouped-query, multi-query and multi-head attention equal the oracle") {
  const auto [query_heads, kv_heads] = GENERATE(std::pair{8, 2}, std::pair{4, 1}, std::pair{4, 4});
  const std::string placement = GENERATE("contiguous", "zigzag", "cost-cut");
  const std::uint64_t seed = GENERATE(1, 2);
  CAPTURE(seed, query_heads, kv_heads);
  require_equal_to_oracle("hsap", test::problem_on(shape_of(query_heads, kv_heads), test::random_offsets(seed, 120), 4, 2),
                          ways_to_move(placement));
}

TEST_CASE("keys or queries may move with a sliding window, on a prime number of ranks and on more ranks than tokens") {
  const MaskRule rule = GENERATE(MaskRule{}, window_rule(7));
  for (const test::NamedPacking& packing : test::hard_packings()) {
    INFO(packing.name);
    for (const int ranks : {3, 5})
      require_equal_to_oracle("hsap", test::problem_on(shape_of(4, 4, rule), packing.offsets, ranks, 2),
                              ways_to_move("contiguous"));
  }
}

TEST_CASE(
    "distflashattn, magi, dcp and blockdiag equal the oracle on 5, 6, 7 and 16 ranks, with fp32 d_k, d_v on the wire too") {
  const int ranks = GENERATE(5, 6, 7, 16);
  const std::uint64_t seed = 3;
  CAPTURE(ranks, seed);
  for (const std::vector<Token>& offsets : {test::offsets_of({113}), test::random_offsets(seed, 130)}) {
    const Problem problem = test::problem_on(shape_of(8, 2), offsets, ranks, 4);
    const StrategyOptions fp32{.placement = {}, .d_kv = DType::fp32};
    require_equal_to_oracle("blockdiag", problem, {{}, fp32});
    const StrategyOptions again{.placement = {}, .kv = KvForBackward::again};
    require_equal_to_oracle("distflashattn", problem, {{}, fp32, again});
    for (const Token block : {1, 5, 64}) {
      require_equal_to_oracle("dcp", problem, {{.placement = {}, .block = block, .d_kv = DType::fp32}});
      require_equal_to_oracle("magi", problem, {{.placement = {}, .block = block, .kv = KvForBackward::again}});
    }
  }
}

double bytes_sent(const Problem& problem, const Degrees& degrees, const StrategyOptions& options) {
  const Schedule schedule = find_strategy("hsap").lower(problem, degrees, options);
  double sum = 0;
  for (const Phase phase : {Phase::forward, Phase::backward}) {
    const std::vector<double> sent = bytes_sent_by_rank(schedule, phase);
    sum += std::accumulate(sent.begin(), sent.end(), 0.0);
  }
  return sum;
}

TEST_CASE("moving what is cheaper never sends more than moving keys or moving queries, and sometimes less than both") {
  const std::uint64_t seed = GENERATE(range(100, 112));
  CAPTURE(seed);
  const auto [query_heads, kv_heads] = GENERATE(std::pair{8, 2}, std::pair{4, 4});
  const Problem problem = test::problem_on(shape_of(query_heads, kv_heads), test::random_offsets(seed, 300), 8, 4);
  for (const Degrees& degrees : find_strategy("hsap").degrees(problem))
    for (const std::string placement : {"contiguous", "zigzag"})
      for (const KvForBackward kv : {KvForBackward::kept, KvForBackward::again}) {
        const auto sent = [&](Moving moving) {
          return bytes_sent(problem, degrees, {.placement = placement, .kv = kv, .moving = moving});
        };
        CAPTURE(to_string(degrees), placement);
        CHECK(sent(Moving::cheaper) <= std::min(sent(Moving::kv), sent(Moving::q)));
      }
}

TEST_CASE("a short tail of a long document goes to its keys when that is cheaper, the keys of a short head to a long tail") {
  // Rank 0 holds 60 keys that 4 queries of rank 1 see, rank 2 holds 4 keys that 64 queries of rank 3 see.
  const Problem problem = test::problem_on(shape_of(4, 4), test::offsets_of({4, 64, 60, 60, 68}), 4, 4);
  const auto sent = [&](Moving moving) { return bytes_sent(problem, {1, 4}, {.placement = "contiguous", .moving = moving}); };
  CHECK(sent(Moving::cheaper) < std::min(sent(Moving::kv), sent(Moving::q)));
}

}  // namespace
}  // namespace hsap
