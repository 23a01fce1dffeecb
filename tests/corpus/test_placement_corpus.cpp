// Cost-cut placement of real and published document lengths: balance, the cap, and keys moved over the bound, as a table.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <iomanip>

#include "planner/placement/bounds/layer_bound.hpp"
#include "planner/placement/measures/layer_seconds.hpp"
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

/// Calls visit(name, mask, groups) for every list and number of groups.
template <typename Visit>
void for_each_case(Visit visit) {
  for (const auto& [name, file] : test::planbench_inputs()) {
    const DocumentMask mask = test::mask_of_lengths(test::read_lengths(file));
    REQUIRE(mask.tokens() > 0);
    const std::string size = name.substr(name.find('_') + 1, name.rfind('_') - name.find('_') - 1);
    for (const int groups : kGroups.at(size)) visit(name, mask, groups);
  }
}

void check_all(double token_cap, double pairs_per_token, double most_over_bound) {
  std::cout << "token cap " << token_cap << ", " << pairs_per_token << " pairs per token\n"
            << "instance               groups  cost max/mean  tokens max/mean  keys moved   / bound\n";
  std::vector<double> over_bound;
  for_each_case([&](const std::string& name, const DocumentMask& mask, int groups) {
    CAPTURE(name, groups, token_cap, pairs_per_token);
    const CostCutOptions options{
        .token_cap = token_cap, .pairs_per_token = pairs_per_token, .groups_of_node = equal_nodes(groups, 8)};
    const Placement placement = place_cost_cut(mask, groups, options);
    CHECK(test::is_partition(mask, placement));
    const test::PlacementMeasures measures = test::measure(mask, placement, pairs_per_token);
    CHECK(measures.tokens_max_over_mean <= token_cap * (1 + 1e-9));
    CHECK(measures.cost_max_over_mean < 1.005);
    const double mean_cost = measures.max_cost / measures.cost_max_over_mean;
    const double bound = test::fewest_keys_moved(mask, token_cap * static_cast<double>(mask.tokens()) / groups,
                                                 1.005 * mean_cost, pairs_per_token);
    std::cout << std::left << std::setw(24) << name << std::right << std::setw(5) << groups << std::fixed
              << std::setprecision(4) << std::setw(15) << measures.cost_max_over_mean << std::setw(17)
              << measures.tokens_max_over_mean << std::setw(12) << measures.keys_moved << std::setprecision(2) << std::setw(10)
              << (bound > 0 ? std::to_string(static_cast<double>(measures.keys_moved) / bound).substr(0, 5) : "-") << "\n";
    CHECK(static_cast<double>(measures.keys_moved) >= bound * (1 - 1e-9));
    if (bound > 0.01 * static_cast<double>(mask.tokens()))
      over_bound.push_back(static_cast<double>(measures.keys_moved) / bound);
  });
  std::cout << "median keys moved over bound: " << median(over_bound) << "\n\n";
  CHECK(median(over_bound) < most_over_bound);
}

TEST_CASE("placement corpus: cost cut is level, within the cap and near the fewest keys when tokens cost as in a Llama layer") {
  check_all(1e6, kLlamaLayer, 1.03);
  check_all(1.25, kLlamaLayer, 1.12);
}

TEST_CASE("placement corpus: cost cut is level, within the cap and near the fewest keys when only attention costs") {
  check_all(1.25, 0, 1.25);
  check_all(1.0, 0, 1.4);
}

TEST_CASE("placement corpus: the modelled layer of a cost cut is near its bound, and so are the keys received") {
  struct Limits {
    int groups;
    double worst_time;
    double median_keys;
  };
  const std::map<double, std::vector<Limits>> limits = {
      {1.25, {{8, 1.001, 1.10}, {32, 1.001, 1.12}, {128, 1.002, 1.12}, {512, 1.002, 1.15}}},
      {1.1, {{8, 1.001, 1.65}, {32, 1.001, 1.32}, {128, 1.002, 1.32}, {512, 1.04, 1.26}}},
  };
  for (const auto& [token_cap, of_cap] : limits) {
    std::map<int, std::vector<double>> times, keys;  // by groups, over the bounds
    for_each_case([&, cap = token_cap](const std::string&, const DocumentMask& mask, int groups) {
      const Placement placement = place_cost_cut(mask, groups,
                                                 {.token_cap = cap,
                                                  .pairs_per_token = kLlama3Layer.pairs_per_token(),
                                                  .pairs_per_entering_key = kLlama3Layer.pairs_per_entering_key(),
                                                  .groups_of_node = equal_nodes(groups, 8)});
      const Traffic traffic = measure_traffic(mask, placement, 8);
      const LayerBound bound = layer_bound(mask, kLlama3Layer, {.ranks = groups, .ranks_per_node = 8, .token_cap = cap});
      times[groups].push_back(layer_seconds(traffic, kLlama3Layer, KvExchange::hierarchical) / bound.seconds);
      if (bound.volumes->coupled > 0) keys[groups].push_back(static_cast<double>(traffic.received()) / bound.volumes->coupled);
    });
    for (const Limits& limit : of_cap) {
      const std::vector<double>& of_times = times.at(limit.groups);
      const double worst = *std::max_element(of_times.begin(), of_times.end());
      std::cout << "token cap " << token_cap << ", " << limit.groups << " groups: time over bound, median "
                << std::setprecision(4) << median(of_times) << ", worst " << worst << "; median keys received over bound "
                << std::setprecision(3) << median(keys.at(limit.groups)) << "\n";
      CAPTURE(token_cap, limit.groups);
      CHECK(median(of_times) <= 1.001);
      CHECK(worst <= limit.worst_time);
      CHECK(median(keys.at(limit.groups)) <= limit.median_keys);
    }
  }
}

TEST_CASE("placement corpus: for a barrier, tokens and pairs are each within 2 % of their means in every list") {
  for_each_case([](const std::string& name, const DocumentMask& mask, int groups) {
    CAPTURE(name, groups);
    const test::PlacementMeasures measures =
        test::measure(mask, place_cost_cut(mask, groups, {.token_cap = 1.02, .groups_of_node = equal_nodes(groups, 8)}), 0);
    CHECK(measures.tokens_max_over_mean <= 1.02 * (1 + 1e-9));
    CHECK(measures.cost_max_over_mean <= 1.02);
  });
}

TEST_CASE("placement corpus: with pods of 16 nodes few keys cross the spine, about as many enter nodes, the layer is as fast") {
  std::vector<double> crossing, entering, times;  // with pods over without
  for_each_case([&](const std::string& name, const DocumentMask& mask, int groups) {
    if (groups != 512) return;
    CAPTURE(name);
    CostCutOptions options{.pairs_per_token = kLlama3Layer.pairs_per_token(),
                           .pairs_per_entering_key = kLlama3Layer.pairs_per_entering_key(),
                           .groups_of_node = equal_nodes(groups, 8)};
    const Placement without = place_cost_cut(mask, groups, options);
    options.groups_of_pod = equal_nodes(groups, 128);
    const Placement with = place_cost_cut(mask, groups, options);
    const auto ratio = [](Token a, Token b) { return b == 0 ? 1 : static_cast<double>(a) / static_cast<double>(b); };
    crossing.push_back(ratio(measure_traffic(mask, with, 128).entered(), measure_traffic(mask, without, 128).entered()));
    const Traffic of_nodes = measure_traffic(mask, with, 8), of_nodes_without = measure_traffic(mask, without, 8);
    entering.push_back(ratio(of_nodes.entered(), of_nodes_without.entered()));
    times.push_back(layer_seconds(of_nodes, kLlama3Layer, KvExchange::hierarchical) /
                    layer_seconds(of_nodes_without, kLlama3Layer, KvExchange::hierarchical));
    CHECK(crossing.back() <= 1);
    CHECK(entering.back() <= 1.15);
    CHECK(times.back() <= 1.001);
  });
  std::cout << "pods of 16 nodes, " << crossing.size() << " lists: keys that cross the spine over those without pods, median "
            << std::setprecision(3) << median(crossing) << ", largest " << *std::max_element(crossing.begin(), crossing.end())
            << "; keys that enter nodes, median " << median(entering) << ", largest "
            << *std::max_element(entering.begin(), entering.end()) << "\n";
  CHECK(median(crossing) <= 0.2);
  CHECK(median(entering) <= 1.02);
}

}  // namespace
}  // namespace hsap
