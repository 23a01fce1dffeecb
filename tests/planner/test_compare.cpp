// compare(): what it ranks and places by, and where the best one's time above the bound goes.
#include "planner/search/compare.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>

#include "planner/ir/errors.hpp"
#include "tests/sim/exchange_schedule.hpp"

using namespace hsap;
using namespace hsap::test;

namespace {

const AttentionShape kShape{.kind = AttentionKind::softmax,
                            .query_heads = 32,
                            .kv_heads = 8,
                            .qk_dim = 128,
                            .v_dim = 128,
                            .dtype = DType::bf16,
                            .mask = {},
                            .decay = 0};

/// A long document and many short ones, the same number of tokens: balancing pairs and balancing tokens are two things.
std::vector<Token> skewed_offsets() {
  std::vector<Token> offsets{0, 65536};
  for (int d = 0; d < 256; ++d) offsets.push_back(offsets.back() + 256);
  return offsets;
}

struct Case {
  ClusterTopology cluster = bare_switch(4, "2000 GB/s", "1 us");
  KernelTimes kernels{cluster};

  Comparison run(Objective objective, const std::vector<std::string>& strategies, const StrategyOptions& options = {},
                 double buffer_bytes = std::numeric_limits<double>::infinity()) const {
    CompareRequest request;
    request.linear_work = linear_work(2e8, DType::bf16, 4, kernels);
    request.objective = objective;
    request.problem = make_problem(kShape, skewed_offsets(), cluster,
                                   objective == Objective::layer ? request.linear_work : LinearWork{}, kernels);
    request.problem.buffer_bytes = buffer_bytes;
    request.strategies = strategies;
    request.options = options;
    if (strategies.size() == 1) request.degrees = Degrees{1, 4};
    return compare(request, cluster, kernels,
                   [&](const Schedule& s, const LinearWork& work) { return estimate_layer(s, work, cluster, kernels); });
  }
};

}  // namespace

TEST_CASE("compare: rows are ranked by the objective, and no row beats its bound") {
  const Case problem;
  for (const Objective objective : {Objective::layer, Objective::attention}) {
    CAPTURE(to_string(objective));
    const Comparison comparison = problem.run(objective, {});
    CHECK(comparison.objective == objective);
    REQUIRE(comparison.best);
    double last = 0;
    for (std::size_t i = *comparison.best; i < comparison.outcomes.size(); ++i) {
      const Outcome& outcome = comparison.outcomes[i];
      if (!outcome.valid) continue;
      CAPTURE(outcome.strategy);
      CHECK(outcome.layer_forward_seconds > outcome.forward_seconds);
      CHECK(outcome.layer_backward_seconds > outcome.backward_seconds);
      CHECK(outcome.over_bound >= 1);
      if (outcome.attention != AttentionKind::softmax) continue;
      CHECK(outcome.over_bound == Approx(outcome.seconds(objective) / comparison.lower_bound_seconds()));
      CHECK(outcome.seconds(objective) >= last);
      last = outcome.seconds(objective);
    }
    REQUIRE(comparison.best_causes);
    const TimeCauses causes = sum_of(*comparison.best_causes);
    CHECK(causes.seconds == Approx(comparison.outcomes[*comparison.best].seconds(objective)));
    CHECK(causes.bound_seconds == Approx(comparison.lower_bound_seconds()));
    CHECK(causes.sum() == Approx(causes.seconds - causes.bound_seconds));
  }
}

TEST_CASE("compare: hsap gives up balanced pairs for balanced layers when layers are the objective") {
  const Case problem;
  const StrategyOptions options{.placement = "cost-cut", .stages = 1};
  const Outcome by_layer = problem.run(Objective::layer, {"hsap"}, options).outcomes.front();
  const Outcome by_attention = problem.run(Objective::attention, {"hsap"}, options).outcomes.front();
  CHECK(by_layer.layer_forward_seconds < 0.95 * by_attention.layer_forward_seconds);
  CHECK(by_layer.forward_seconds > 1.05 * by_attention.forward_seconds);
}

TEST_CASE("compare: the memory cap is looked for where a strategy has one, and is part of the sum") {
  const Case problem;
  for (const std::string placement : {"cost-cut-tight", "cost-cut", "cost-cut-uncapped", "zigzag"}) {
    CAPTURE(placement);
    const Comparison comparison = problem.run(Objective::layer, {"hsap"}, {.placement = placement, .stages = 1});
    const TimeCauses causes = sum_of(*comparison.best_causes);
    CHECK(causes.memory_cap >= 0);
    CHECK(causes.imbalance >= -1e-9 * causes.seconds);
    CHECK(causes.sum() == Approx(causes.seconds - causes.bound_seconds));
    if (placement == "cost-cut-uncapped" || placement == "zigzag") CHECK(causes.memory_cap == 0);
  }
}

TEST_CASE("compare: communication buffers are kept, by more steps where they are small, and what that costs is told") {
  const Case problem;
  const Outcome free = problem.run(Objective::layer, {"hsap"}).outcomes.front();
  CHECK(free.seconds_for_buffer == 0);
  CHECK(free.communication_buffer_bytes > 0);
  const double limit = 0.4 * free.communication_buffer_bytes;
  const Outcome limited = problem.run(Objective::layer, {"hsap"}, {}, limit).outcomes.front();
  CHECK(limited.fits);
  CHECK(limited.communication_buffer_bytes <= limit);
  CHECK(limited.seconds_for_buffer > 0);
  CHECK(limited.seconds(Objective::layer) ==
        Approx(free.seconds(Objective::layer) + limited.seconds_for_buffer));  // the evaluator is the estimate here

  const Outcome none = problem.run(Objective::layer, {"hsap"}, {}, 1000).outcomes.front();
  CHECK(none.valid);
  CHECK_FALSE(none.fits);
  CHECK_THAT(none.reason, Catch::Matchers::Contains("of communication buffers, the limit is 0.977 KiB"));
  const Comparison others = problem.run(Objective::layer, {"ulysses", "zigzag"}, {}, limit);
  for (const Outcome& outcome : others.outcomes) CHECK(outcome.fits == (outcome.communication_buffer_bytes <= limit));
}

TEST_CASE("compare: an objective that is none is refused with those there are") {
  CHECK(parse_objective("attention") == Objective::attention);
  CHECK_THROWS_WITH(parse_objective("tokens"),
                    "objective: found \"tokens\", expected layer (attention and linear work) or attention");
}
