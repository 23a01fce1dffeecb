// The lower bounds of every benchmark instance, rank count and cap equal those of the reference script.
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>

#include "planner/placement/bounds/coupled_volume.hpp"
#include "planner/placement/bounds/layer_bound.hpp"
#include "tests/corpus/planbench.hpp"

namespace hsap {
namespace {

/// The steps with which bounds.json was made (found by trying: exact to 2e-4 with 160); bounds.py itself defaults to 600.
constexpr int kStepsOfTheFile = 160;

TEST_CASE("bounds corpus: all bounds equal the reference within a thousandth, and take milliseconds") {
  std::ifstream stream(test::planbench("bounds.json"));
  const auto inputs = test::planbench_inputs();
  int compared = 0;
  int coupled_above = 0;
  double slowest = 0;
  for (const nlohmann::json& expected : nlohmann::json::parse(stream)) {
    const std::string id = expected.at("id");
    const std::vector<Token> lengths = test::read_lengths(inputs.at(id));
    const BoundOptions options{
        .ranks = expected.at("P"), .ranks_per_node = 8, .token_cap = expected.at("kappa"), .cost_slack = expected.at("eps")};
    CAPTURE(id, options.ranks, options.token_cap);
    const auto begin = std::chrono::steady_clock::now();
    const LayerBound bound = layer_bound(lengths, kLlama3Layer, options);
    slowest = std::max(slowest, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    const auto equals = [&](const char* name, double value) {
      CAPTURE(name);
      CHECK(value == Approx(expected.at(name).get<double>()).epsilon(1e-3).margin(1e-6));
    };
    equals("t_comp_ms", bound.compute_seconds * 1e3);
    equals("lb_layer_ms", bound.seconds * 1e3);
    equals("lb_layer_any_ms", bound.any_plan_seconds * 1e3);
    REQUIRE(bound.volumes);
    equals("V_A", bound.volumes->row_atomic);
    equals("V_A_node", bound.volumes->into_nodes);
    equals("max_A", bound.volumes->most_into_one_rank);
    equals("V_B", bound.volumes->any_plan);
    const RankCaps caps =
        rank_caps(lengths, options.ranks, options.token_cap, options.cost_slack, kLlama3Layer.pairs_per_token());
    equals("V_A2", coupled_volume(lengths, options.ranks, caps, kStepsOfTheFile));
    // More steps, a larger bound; the steps are not nested, so a thousandth may be lost.
    CHECK(bound.volumes->coupled > expected.at("V_A2").get<double>() * (1 - 1e-3) - 1e-6);
    if (bound.volumes->coupled > bound.volumes->row_atomic * 1.001) ++coupled_above;
    ++compared;
  }
  std::cout << "bounds corpus: " << compared << " sets of bounds, in " << coupled_above
            << " of them both caps bind together; slowest " << slowest * 1e3 << " ms\n";
  CHECK(compared > 300);
  CHECK(coupled_above > 100);
  CHECK(slowest < 0.1);  // a few ms; the rest is for a busy machine
}

}  // namespace
}  // namespace hsap
