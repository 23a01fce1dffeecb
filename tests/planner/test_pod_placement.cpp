// The cost-cut placement over pods, nodes and groups.
#include <catch2/catch.hpp>
#include <random>

#include "planner/ir/errors.hpp"
#include "planner/placement/bounds/memory.hpp"
#include "planner/placement/measures/traffic.hpp"
#include "planner/placement/placement.hpp"
#include "tests/planner/placement_measures.hpp"
#include "tests/planner/placement_packings.hpp"
#include "tests/planner/random_sets.hpp"

namespace hsap {
namespace {

using Catch::Matchers::Contains;
using test::is_partition;
using test::mask_of;
using test::measure;
using test::random_packing;

TEST_CASE("pods: whole documents that fill pods exactly leave nothing to cross the spine") {
  // Each pod of two nodes of two groups can hold a document of 4,000 tokens and the short ones that are its share.
  const DocumentMask mask = mask_of({4000, 4000, 4000});
  const Placement placement =
      place_cost_cut(mask, 12, {.groups_of_node = equal_nodes(12, 2), .groups_of_pod = equal_nodes(12, 4)});
  for (std::size_t group = 0; group < placement.size(); ++group)
    CHECK(difference(placement[group], TokenSet{mask.document(group / 4)}).empty());
  CHECK(measure_traffic(mask, placement, 4).entered() == 0);
}

TEST_CASE("pods: every token once, never above the cap, costs even, with pods and nodes of unequal size") {
  const unsigned seed = GENERATE(71u, 72u, 73u);
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (const auto& [pods, nodes] : {std::pair<std::vector<int>, std::vector<int>>{{8, 8}, {4, 4, 4, 4}},
                                    {{5, 2, 9}, {2, 3, 2, 4, 1, 4}},
                                    {{6, 10}, {}},
                                    {{1, 15}, {1, 5, 5, 5}}})
    for (const double cap : {1.0, 1.1, 1.25, 2.0})
      for (const double per_token : {0.0, 5000.0}) {
        const DocumentMask mask = random_packing(random, 300, 15, {});
        CAPTURE(pods, nodes, cap, per_token, mask.tokens());
        const CostCutOptions options{.token_cap = std::max(cap, smallest_token_cap(mask.tokens(), 16)),
                                     .pairs_per_token = per_token,
                                     .groups_of_node = nodes,
                                     .groups_of_pod = pods};
        const Placement placement = place_cost_cut(mask, 16, options);
        REQUIRE(placement.size() == 16);
        CHECK(is_partition(mask, placement));
        const test::PlacementMeasures measures = measure(mask, placement, per_token);
        CHECK(measures.tokens_max_over_mean <= options.token_cap * (1 + 1e-9));
        CHECK(measures.cost_max_over_mean < 1.005);
      }
}

TEST_CASE("pods: fewer keys cross the spine than when nodes are filled without looking at pods, no more enter nodes") {
  std::mt19937 random(81);
  Token pods_alone = 0, pods_filled = 0, nodes_alone = 0, nodes_filled = 0;
  for (int packing = 0; packing < 40; ++packing) {
    const DocumentMask mask = random_packing(random, 120, 16, {});
    CostCutOptions options{.pairs_per_token = 2000, .groups_of_node = equal_nodes(64, 4)};
    const Placement without = place_cost_cut(mask, 64, options);
    options.groups_of_pod = equal_nodes(64, 16);
    const Placement with = place_cost_cut(mask, 64, options);
    pods_alone += measure_traffic(mask, without, 16).entered();
    pods_filled += measure_traffic(mask, with, 16).entered();
    nodes_alone += measure_traffic(mask, without, 4).entered();
    nodes_filled += measure_traffic(mask, with, 4).entered();
  }
  CAPTURE(pods_alone, pods_filled, nodes_alone, nodes_filled);
  CHECK(static_cast<double>(pods_filled) < 0.75 * static_cast<double>(pods_alone));
  CHECK(static_cast<double>(nodes_filled) < 1.1 * static_cast<double>(nodes_alone));
}

TEST_CASE("pods: sizes that cannot be are refused") {
  const DocumentMask mask = mask_of({100});
  CHECK_THROWS_WITH(place_cost_cut(mask, 4, {.groups_of_pod = {2, 3}}),
                    Contains("groups_of_pod is 5") && Contains("groups, 4"));
  CHECK_THROWS_WITH(place_cost_cut(mask, 4, {.groups_of_pod = {4, 0}}), Contains("size of a pod") && Contains("at least 1"));
  CHECK_THROWS_WITH(place_cost_cut(mask, 6, {.groups_of_node = {2, 2, 2}, .groups_of_pod = {3, 3}}),
                    Contains("groups_of_pod[0] is 3") && Contains("inside node 1"));
}

}  // namespace
}  // namespace hsap
