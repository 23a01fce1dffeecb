// hsap on groups whose tokens are given is hsap that placed them so.
#include <catch2/catch.hpp>

#include "planner/ir/errors.hpp"
#include "planner/ir/verify.hpp"
#include "planner/strategies/hsap.hpp"
#include "planner/strategies/hsap_placement.hpp"
#include "tests/conformance/problems.hpp"

namespace hsap {
namespace {

using Catch::Matchers::Contains;

constexpr AttentionShape kShape{.kind = AttentionKind::softmax,
                                .query_heads = 4,
                                .kv_heads = 2,
                                .qk_dim = 12,
                                .v_dim = 8,
                                .dtype = DType::bf16,
                                .mask = {}};

TEST_CASE("given groups: the placement of a law gives the schedule of that law, with all other options") {
  const Problem problem = test::problem_on(kShape, test::offsets_of({400, 3, 90, 1, 700}), 8, 4);
  for (const Degrees degrees : {Degrees{1, 8}, Degrees{2, 4}})
    for (const std::string& law : hsap_placements())
      for (StrategyOptions options :
           {StrategyOptions{}, StrategyOptions{.stages = 2}, StrategyOptions{.exchange = KvRoute::direct},
            StrategyOptions{.exchange = KvRoute::joined}, StrategyOptions{.stages = 4, .exchange = KvRoute::rounds}}) {
        CAPTURE(to_string(degrees), law, to_string(options));
        const Schedule given = lower_hsap(problem, degrees, place_hsap(problem, degrees, law), options);
        options.placement = law;
        CHECK(given == find_strategy("hsap").lower(problem, degrees, options));
      }
}

TEST_CASE("given groups may hold anything, also nothing") {
  const Problem problem = test::problem_on(kShape, test::offsets_of({60, 40}), 3, 1);
  const Schedule schedule = lower_hsap(problem, {1, 3}, {TokenSet{{0, 10}, {50, 100}}, TokenSet{}, TokenSet{{10, 50}}});
  CHECK_NOTHROW(verify(schedule, problem.mask));
  CHECK(schedule.tokens(schedule.ranks[2].tokens) == TokenSet{{10, 50}});
}

TEST_CASE("given groups: what does not fit is refused") {
  const Problem problem = test::problem_on(kShape, test::offsets_of({60, 40}), 2, 2);
  const Placement halves = {TokenSet{{0, 50}}, TokenSet{{50, 100}}};
  CHECK_NOTHROW(lower_hsap(problem, {1, 2}, halves));
  CHECK_THROWS_WITH(lower_hsap(problem, {2, 1}, halves), Contains("2 groups, expected 1"));
  CHECK_THROWS_WITH(lower_hsap(problem, {1, 3}, halves), Contains("hsap: "));
  CHECK_THROWS_WITH(lower_hsap(problem, {1, 2}, halves, {.placement = "zigzag"}), Contains("placement \"zigzag\""));
  CHECK_THROWS_WITH(lower_hsap(problem, {1, 2}, halves, {.window = 2}), Contains("no option window"));
  CHECK_THROWS_WITH(lower_hsap(problem, {1, 2}, halves, {.stages = 5000}), Contains("found 5000, expected at most 4000"));
  Problem linear = problem;
  linear.shape.kind = AttentionKind::linear;
  CHECK_THROWS_WITH(lower_hsap(linear, {1, 2}, halves), Contains("softmax"));
}

}  // namespace
}  // namespace hsap
