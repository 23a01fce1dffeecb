// hsap may choose every placement, every exchange and every degrees: where another strategy is faster, the search has missed
// something. Ranked as hsap-plan compare does by default, by simulation.
#include <algorithm>
#include <catch2/catch.hpp>

#include "sim/simulate.hpp"
#include "tests/search/random_cases.hpp"

using namespace hsap;
using namespace hsap::test;

namespace {

/// Of a simulated clock.
constexpr double kRounding = 1e-6;

std::string describe(const Outcome& outcome, Objective objective) {
  return outcome.strategy + " " + to_string(outcome.degrees) + " " + to_string(outcome.options) + ": " +
         std::to_string(outcome.seconds(objective) * 1e6) + " us";
}

void check_hsap_is_best(std::uint64_t seed) {
  const RandomCase random = random_case(seed);
  const KernelTimes kernels(random.cluster);
  const Comparison comparison =
      compare(random.request, random.cluster, kernels, [&](const Schedule& schedule, const LinearWork& work) {
        return simulate_layer(schedule, work, random.cluster, kernels);
      });
  REQUIRE(comparison.best);
  const Outcome& best = comparison.outcomes[*comparison.best];
  const auto hsap = std::find_if(comparison.outcomes.begin(), comparison.outcomes.end(),
                                 [](const Outcome& outcome) { return outcome.strategy == "hsap"; });
  REQUIRE(hsap != comparison.outcomes.end());
  INFO("seed " << seed << ": " << random.description << '\n'
               << describe(*hsap, comparison.objective) << '\n'
               << describe(best, comparison.objective));
  CHECK(hsap->valid);
  CHECK(hsap->seconds(comparison.objective) <= best.seconds(comparison.objective) * (1 + kRounding));
}

}  // namespace

TEST_CASE("hsap is never slower than the best other strategy, a few random cases", "[few]") {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) check_hsap_is_best(seed);
}

TEST_CASE("hsap is never slower than the best other strategy, 200 random cases", "[.][whole]") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) check_hsap_is_best(seed);
}
