// compare(): what it ranks and places by, and where the best one's time above the bound goes.
#include "planner/search/compare.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "planner/ir/errors.hpp"
#include "tests/sim/exchange_schedule.hpp"

using namespace hsap;
using namespace hsap::test;

namespace {

const AttentionShape kShape{.kind = AttentionKind::softmax,
                            .query_heads = 8,
                            .kv_heads = 4,
                            .qk_dim = 64,
                            .v_dim = 64,
                            .dtype = DType::bf16,
                            .mask = {},
                            .decay = 0};

/// A long document and many short ones, the same number of tokens: balancing pairs and balancing tokens are two things.
std::vector<Token> skewed_offsets() {
  std::vector<Token> offsets{0, 16384};
  for (int d = 0; d < 64; ++d) offsets.push_back(offsets.back() + 256);
  return offsets;
}

struct Case {
  ClusterTopology cluster = bare_switch(4);
  KernelTimes kernels{cluster};

  Comparison run(Objective objective, const std::vector<std::string>& strategies, const StrategyOptions& options = {},
                 double parameters = 5e7) const {
    CompareRequest request;
    request.linear_work = linear_work(parameters, DType::bf16, 4, kernels);
    request.objective = objective;
    request.problem = make_problem(kShape, skewed_offsets(), cluster,
                                   objective == Objective::layer ? request.linear_work : LinearWork{}, kernels);
    request.strategies = strategies;
    request.options = options;
    if (strategies.size() == 1) request.degrees = Degrees{1, 4};
    return compare(request, cluster, kernels, [&](const Schedule& s) { return estimate(s, cluster, kernels); });
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
  const Outcome by_layer = problem.run(Objective::layer, {"hsap"}).outcomes.front();
  const Outcome by_attention = problem.run(Objective::attention, {"hsap"}).outcomes.front();
  CHECK(by_layer.seconds(Objective::layer) < by_attention.seconds(Objective::layer));
  CHECK(by_layer.seconds(Objective::attention) > by_attention.seconds(Objective::attention));
}

TEST_CASE("compare: the memory cap costs imbalance when pairs alone are balanced, and nothing where tokens matter most") {
  const Case problem;
  const StrategyOptions tight{.placement = "cost-cut-tight", .stages = 1};
  const auto causes = [&](Objective objective, const StrategyOptions& options, double parameters) {
    return sum_of(*problem.run(objective, {"hsap"}, options, parameters).best_causes);
  };
  const TimeCauses capped = causes(Objective::attention, tight, 1e6);
  CHECK(capped.memory_cap > 0.02 * capped.bound_seconds);
  const TimeCauses uncapped = causes(Objective::attention, {.placement = "cost-cut-uncapped", .stages = 1}, 1e6);
  CHECK(uncapped.memory_cap == 0);
  CHECK(capped.imbalance == Approx(uncapped.imbalance).margin(1e-3 * capped.bound_seconds));
  const TimeCauses of_tokens = causes(Objective::layer, tight, 1e10);
  CHECK(of_tokens.memory_cap <= 1e-3 * of_tokens.bound_seconds);
  CHECK_FALSE(problem.run(Objective::layer, {"zigzag"}).best_causes->forward.memory_cap > 0);
}

TEST_CASE("compare: an objective that is none is refused with those there are") {
  CHECK(parse_objective("attention") == Objective::attention);
  CHECK_THROWS_WITH(parse_objective("tokens"),
                    "objective: found \"tokens\", expected layer (attention and linear work) or attention");
}
