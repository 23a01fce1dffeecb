// Cost-cut placement of real and published document lengths: balance, the cap, and keys moved over the bound, as a table.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <iomanip>

#include "tests/corpus/planbench.hpp"
#include "tests/planner/placement_measures.hpp"

namespace hsap {
namespace {

/// Sizes of the lists and the groups to put them on.
const std::map<std::string, std::vector<int>> kGroups = {
    {"64k", {8, 32}}, {"256k", {8, 32, 128}}, {"1m", {8, 32, 128, 512}}, {"4m", {32, 128, 512}}};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.at(values.size() / 2);
}

/// Linear work of a token of a Llama-3-8B layer in (query, key) pairs: 2 x 218.1e6 FLOP over 4 x 32 x 128 per pair.
constexpr double kLlamaLayer = 26'623.5;

void check_all(double token_cap, double pairs_per_token, double most_over_bound) {
  std::cout << "token cap " << token_cap << ", " << pairs_per_token << " pairs per token\n"
            << "instance               groups  cost max/mean  tokens max/mean  keys moved   / bound\n";
  std::vector<double> over_bound;
  for (const auto& [name, file] : test::planbench_inputs()) {
    const DocumentMask mask = test::mask_of_lengths(test::read_lengths(file));
    REQUIRE(mask.tokens() > 0);
    const std::string size = name.substr(name.find('_') + 1, name.rfind('_') - name.find('_') - 1);
    for (const int groups : kGroups.at(size)) {
      CAPTURE(name, groups, token_cap, pairs_per_token);
      const CostCutOptions options{.token_cap = token_cap, .pairs_per_token = pairs_per_token, .groups_per_node = 8};
      const Placement placement = place_cost_cut(mask, groups, options);
      CHECK(test::is_partition(mask, placement));
      const test::PlacementMeasures measures = test::measure(mask, placement, pairs_per_token);
      CHECK(static_cast<double>(measures.max_tokens) <= std::ceil(token_cap * static_cast<double>(mask.tokens()) / groups));
      CHECK(measures.cost_max_over_mean < 1.005);
      const double mean_cost = measures.max_cost / measures.cost_max_over_mean;
      const double bound = test::fewest_keys_moved(mask, token_cap * static_cast<double>(mask.tokens()) / groups,
                                                   1.005 * mean_cost, pairs_per_token);
      std::cout << std::left << std::setw(24) << name << std::right << std::setw(5) << groups << std::fixed
                << std::setprecision(4) << std::setw(15) << measures.cost_max_over_mean << std::setw(17)
                << measures.tokens_max_over_mean << std::setw(12) << measures.keys_moved << std::setprecision(2)
                << std::setw(10)
                << (bound > 0 ? std::to_string(static_cast<double>(measures.keys_moved) / bound).substr(0, 5) : "-") << "\n";
      CHECK(static_cast<double>(measures.keys_moved) >= bound * (1 - 1e-9));
      if (bound > 0.01 * static_cast<double>(mask.tokens()))
        over_bound.push_back(static_cast<double>(measures.keys_moved) / bound);
    }
  }
  std::cout << "median keys moved over bound: " << median(over_bound) << "\n\n";
  CHECK(median(over_bound) < most_over_bound);
}

TEST_CASE("placement corpus: cost cut is level, within the cap and near the fewest keys when tokens cost as in a Llama layer") {
  check_all(1e6, kLlamaLayer, 1.05);
  check_all(1.25, kLlamaLayer, 1.2);
}

TEST_CASE("placement corpus: cost cut is level, within the cap and near the fewest keys when only attention costs") {
  check_all(1.25, 0, 1.35);
  check_all(1.0, 0, 1.6);
}

}  // namespace
}  // namespace hsap
