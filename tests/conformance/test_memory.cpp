// Memory at the point of test_bytes.cpp, per rank: Qb = 64 MiB (also O, d_o, d_q), KVb = 32 MiB, the fp32 log-sum-exp 1 MiB.
// What backward needs is saved exactly as in the published code; what comes and goes stays within what that code takes, which
// its authors' sources give as sums of such blocks, beside the layer's inputs and results.
#include <catch2/catch.hpp>

#include "planner/ir/memory.hpp"
#include "tests/conformance/problems.hpp"

namespace hsap {
namespace {

constexpr double kQ = 64, kKv = 32, kLse = 1, kRanks = 16;  // MiB
constexpr double kMiB = 1 << 20;
using test::kShapeAtThePoint;

struct Expected {
  std::string strategy;
  Degrees degrees;
  StrategyOptions options;
  double saved;      ///< MiB, the busiest rank
  double transient;  ///< MiB, most that published code takes in backward beside what is saved, d_o and the results
};

TEST_CASE("memory: saved for backward and transient buffers of every strategy whose published code is known") {
  const double own = 2 * kQ + kKv + kLse;
  const double ring = kKv + 3 * 2 * kKv + 2 * kQ + kQ + kKv;  // KV hop, fp32 dKV three times, fp32 d_q, one block's gradients
  const double gathered = kRanks * kKv;
  const Expected expected = GENERATE_COPY(values<Expected>({
      {"ring", {1, 16}, {}, own, ring},
      {"zigzag", {1, 16}, {}, own, ring},
      {"stripe", {1, 16}, {}, own, ring},
      {"hybrid-cp", {1, 16}, {}, own, ring},
      {"ring", {1, 16}, {.kv = KvForBackward::kept}, own + 15 * kKv, ring},
      {"double-ring", {1, 16}, {}, own, ring},
      {"burst", {1, 16}, {}, own, 2 * (2 * kQ + 2 * kLse) + 2 * kQ + kQ + 2 * kKv},
      {"usp", {8, 2}, {}, own, ring},
      {"te-a2a-p2p", {1, 16}, {}, own, ring},
      {"ulysses", {16, 1}, {}, own + kKv, 2 * (kQ + 2 * kKv)},
      {"allgather", {1, 16}, {}, own, 3 * gathered / 4 + kKv},
      {"allgather", {1, 16}, {.kv = KvForBackward::kept}, 2 * kQ + gathered + kLse, gathered + kKv},
      {"wlb", {1, 16}, {}, 2 * kQ + gathered + kLse, 2 * gathered},
      {"blockdiag", {1, 16}, {}, own + 15 * kKv, 2 * 15 * kKv + kKv},
      {"hsap", {1, 16}, {.placement = "contiguous", .stages = 1}, own + 15 * kKv, 2 * 15 * kKv},
      {"distflashattn", {1, 16}, {.kv = KvForBackward::again}, own, 15 * kKv},
  }));
  const Schedule schedule =
      find_strategy(expected.strategy)
          .lower(test::problem_on(kShapeAtThePoint, {0, 131072}, 16, 8), expected.degrees, expected.options);
  CAPTURE(expected.strategy, to_string(expected.options));
  double saved = 0;
  for (RankId rank = 0; rank < 16; ++rank) saved = std::max(saved, memory_of(schedule, rank).saved_bytes / kMiB);
  CHECK(saved == expected.saved);
  const double d_o_and_results = kQ + kQ + kKv;
  CHECK(peak_memory(schedule).peak_bytes / kMiB <= expected.saved + d_o_and_results + expected.transient);
}

TEST_CASE("memory: what is needed only, and no more, is saved: documents that start 1,293 tokens before a shard's edge") {
  std::vector<Token> offsets{0};
  for (Token edge = 8192; edge < 131072; edge += 8192) offsets.push_back(edge - 1293);
  offsets.push_back(131072);
  const Problem problem = test::problem_on(kShapeAtThePoint, offsets, 16, 8);
  const double needed = 1293 * 4096 / kMiB;
  const Schedule schedule = find_strategy("hsap").lower(problem, {1, 16}, {.placement = "contiguous", .stages = 1});
  for (RankId rank = 1; rank < 16; ++rank)
    CHECK(memory_of(schedule, rank).saved_bytes / kMiB == Approx(2 * kQ + kKv + kLse + needed));
}

}  // namespace
}  // namespace hsap
