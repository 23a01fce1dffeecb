// The placement laws: small cases by hand, then what each promises, on random packings.
#include "planner/placement/placement.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>
#include <random>

#include "planner/ir/errors.hpp"
#include "planner/placement/bounds/memory.hpp"
#include "tests/planner/placement_measures.hpp"
#include "tests/planner/placement_packings.hpp"
#include "tests/planner/random_sets.hpp"

namespace hsap {
namespace {

using Catch::Matchers::Contains;
using test::is_partition;
using test::kGroups;
using test::mask_of;
using test::measure;
using test::random_packing;

Token ceil_of_mean(const DocumentMask& mask, int groups) { return (mask.tokens() + groups - 1) / groups; }

/// Every group holds floor or ceiling of T / groups.
bool has_equal_tokens(const DocumentMask& mask, const Placement& placement) {
  const auto groups = static_cast<int>(placement.size());
  return std::all_of(placement.begin(), placement.end(), [&](const TokenSet& tokens) {
    return tokens.size() == mask.tokens() / groups || tokens.size() == ceil_of_mean(mask, groups);
  });
}

// --- contiguous and zigzag --------------------------------------------------------------------------------------------

TEST_CASE("contiguous: ten tokens on three groups") {
  const Placement placement = place_contiguous(mask_of({4, 6}), 3);
  CHECK(placement == Placement{TokenSet{{0, 3}}, TokenSet{{3, 6}}, TokenSet{{6, 10}}});
}

TEST_CASE("zigzag: group i of n holds chunks i and 2n-1-i of each document") {
  CHECK(place_zigzag(mask_of({8}), 2) == Placement{TokenSet{{0, 2}, {6, 8}}, TokenSet{{2, 6}}});
  CHECK(place_zigzag(mask_of({4, 8}), 2) == Placement{TokenSet{{0, 1}, {3, 6}, {10, 12}}, TokenSet{{1, 3}, {6, 10}}});
}

TEST_CASE("zigzag: remainder tokens are dealt on from document to document") {
  // Four chunks. The first document deals to chunks 0 1 2, the second to 3 0 1, which lie in it in the order 0 1 3.
  CHECK(place_zigzag(mask_of({3, 3}), 2) == Placement{TokenSet{{0, 1}, {3, 4}, {5, 6}}, TokenSet{{1, 3}, {4, 5}}});
}

TEST_CASE("zigzag: the groups of one long document have equal pairs within rounding") {
  for (const int groups : {2, 3, 8, 61}) {
    CAPTURE(groups);
    const DocumentMask divisible = mask_of({2 * groups * 1000});
    const TokenSet all{{0, divisible.tokens()}};
    for (const TokenSet& tokens : place_zigzag(divisible, groups))
      CHECK(divisible.pairs(tokens, all) * groups == divisible.pairs());

    // One token more or less per chunk, each of at most T pairs, and what that shifts.
    const DocumentMask odd = mask_of({2 * groups * 1000 + groups + 1});
    for (const TokenSet& tokens : place_zigzag(odd, groups))
      CHECK(std::abs(static_cast<double>(odd.pairs(tokens, TokenSet{{0, odd.tokens()}}) - odd.pairs() / groups)) <=
            2.0 * static_cast<double>(odd.tokens()));
  }
}

TEST_CASE("contiguous and zigzag: every token once, token counts equal to one, on random packings") {
  const unsigned seed = GENERATE(11u, 12u, 13u);
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (const int groups : kGroups) {
    const DocumentMask mask = random_packing(random, static_cast<int>(test::draw(random, 1, 60)), 10, {});
    CAPTURE(groups, mask.tokens(), mask.documents());
    for (const Placement& placement : {place_contiguous(mask, groups), place_zigzag(mask, groups)}) {
      CHECK(is_partition(mask, placement));
      CHECK(has_equal_tokens(mask, placement));
    }
  }
}

// --- cost cut: by hand ------------------------------------------------------------------------------------------------

TEST_CASE("cost cut: equal documents stay whole, as many on each group") {
  const DocumentMask mask = mask_of(std::vector<Token>(12, 100));
  const Placement placement = place_cost_cut(mask, 4);
  CHECK(is_partition(mask, placement));
  CHECK(measure(mask, placement, 0).keys_moved == 0);
  for (const TokenSet& tokens : placement) CHECK(tokens.size() == 300);
}

TEST_CASE("cost cut: a document of eight tokens on two groups is cut where both cost eighteen pairs") {
  // Tail 7 + 8 and head 1 .. 6 cost 15 and 21; the rows 1 + 2 make both equal and move no further key: the zigzag of eight
  // tokens.
  const DocumentMask mask = mask_of({8});
  CHECK(place_cost_cut(mask, 2) == Placement{TokenSet{{0, 2}, {6, 8}}, TokenSet{{2, 6}}});
}

TEST_CASE("cost cut: without a binding cap one document is cut contiguously, tail first, at equal costs") {
  const DocumentMask mask = mask_of({100'000});
  const Placement placement = place_cost_cut(mask, 4, {.token_cap = 4});
  // cuts at L sqrt(k / 4), less at most a row
  CHECK(placement ==
        Placement{TokenSet{{86'602, 100'000}}, TokenSet{{70'710, 86'602}}, TokenSet{{49'999, 70'710}}, TokenSet{{0, 49'999}}});
  CHECK(measure(mask, placement, 0).keys_moved == 86'602 + 70'710 + 49'999);
}

TEST_CASE("cost cut: the cost of a token makes groups of short documents smaller") {
  // Alone, the long document costs 1000 x 1001 / 2 = 500,500 pairs and the 100 short ones 100 x 55 = 5,500.
  std::vector<Token> lengths(100, 10);
  lengths.push_back(1000);
  const DocumentMask mask = mask_of(lengths);
  const Placement cheap = place_cost_cut(mask, 2, {.token_cap = 2, .pairs_per_token = 0});
  const Placement dear = place_cost_cut(mask, 2, {.token_cap = 2, .pairs_per_token = 1'000'000});
  CHECK(measure(mask, cheap, 0).cost_max_over_mean < 1.003);
  CHECK(measure(mask, dear, 1'000'000).cost_max_over_mean < 1.001);
  CHECK(measure(mask, cheap, 0).tokens_max_over_mean > 1.4);
  CHECK(measure(mask, dear, 1'000'000).tokens_max_over_mean < 1.001);
}

TEST_CASE("cost cut: a document that fits a node stays on the groups of one node, next to each other") {
  // The long document has half of the cost: 4 of 8 groups, which are one node of four.
  const double half = 4000.0 * 4001 / 2;
  std::vector<Token> lengths(100, 0);
  const auto short_length = static_cast<Token>(std::sqrt(2 * half / 100));
  std::fill(lengths.begin(), lengths.end(), short_length);
  lengths.push_back(4000);
  const DocumentMask mask = mask_of(lengths);
  const Placement placement = place_cost_cut(mask, 8, {.token_cap = 2, .groups_of_node = {4, 4}});
  const TokenRange document = mask.document(100);
  std::vector<std::size_t> groups;
  for (std::size_t group = 0; group < placement.size(); ++group)
    if (!clip(placement[group], document.begin, document.end).empty()) groups.push_back(group);
  CHECK(groups == std::vector<std::size_t>{0, 1, 2, 3});
}

TEST_CASE("cost cut: fewer tokens than groups leaves groups empty, none with two") {
  const DocumentMask mask = mask_of({1, 2});
  const Placement placement = place_cost_cut(mask, 8, {.token_cap = smallest_token_cap(3, 8), .groups_of_node = {3, 3, 2}});
  REQUIRE(placement.size() == 8);
  CHECK(is_partition(mask, placement));
  for (const TokenSet& tokens : placement) CHECK(tokens.size() <= 1);
}

TEST_CASE("cost cut: one document of fewer tokens than groups gives each row its own group, the last first") {
  const DocumentMask mask = mask_of({10});
  const Placement placement = place_cost_cut(mask, 64, {.token_cap = 64});
  CHECK(is_partition(mask, placement));
  for (Token row = 0; row < 10; ++row) CHECK(placement[static_cast<std::size_t>(row)] == TokenSet{{9 - row, 10 - row}});
}

TEST_CASE("cost cut: one group holds all, no tokens make empty groups") {
  CHECK(place_cost_cut(mask_of({3, 4}), 1) == Placement{TokenSet{{0, 7}}});
  CHECK(place_cost_cut(DocumentMask(), 3) == Placement(3));
}

TEST_CASE("cost cut: with a window rows cost the window, so cuts are nearly even and move less than a window each") {
  const DocumentMask mask = mask_of({100'000}, window_rule(64));
  const Placement placement = place_cost_cut(mask, 4);
  CHECK(is_partition(mask, placement));
  const test::PlacementMeasures measures = measure(mask, placement, 0);
  CHECK(measures.cost_max_over_mean < 1.001);
  CHECK(measures.tokens_max_over_mean < 1.01);
  CHECK(measures.keys_moved == 3 * 63);
}

TEST_CASE("cost cut: one document at the smallest cap has equal tokens and equal costs, and moves the keys of the zigzag law") {
  const DocumentMask mask = mask_of({65'536});
  for (const int groups : {2, 3, 7, 8}) {
    CAPTURE(groups);
    const Placement placement = place_cost_cut(mask, groups, {.token_cap = smallest_token_cap(65'536, groups)});
    CHECK(is_partition(mask, placement));
    CHECK(has_equal_tokens(mask, placement));
    const test::PlacementMeasures measures = measure(mask, placement, 0);
    CHECK(measures.cost_max_over_mean < 1.001);
    // 3/4 (k-1) L is the least that k groups with equal tokens and equal costs can move (zigzag).
    CHECK(static_cast<double>(measures.keys_moved) < 1.15 * 0.75 * (groups - 1) * 65'536);
  }
}

TEST_CASE("cost cut: under a binding cap a long document is cut nearly as if it were alone, and short ones fill up") {
  // The long document has nearly all cost, the short ones have half of the tokens: every group needs a tail and fillers.
  std::vector<Token> lengths(500, 100);
  lengths.push_back(50'000);
  const DocumentMask mask = mask_of(lengths);
  const Placement placement = place_cost_cut(mask, 16, {.token_cap = 1.1});
  const test::PlacementMeasures measures = measure(mask, placement, 0);
  CHECK(measures.cost_max_over_mean < 1.001);
  CHECK(static_cast<double>(measures.keys_moved) <
        1.05 * test::fewest_keys_moved(mask, 1.1 * 100'000 / 16, measures.max_cost, 0));
}

TEST_CASE(
    "cost cut: under a binding cap the tail that reaches farthest lies with the shortest documents, and only its own one is "
    "cut") {
  // Two groups, each of nearly half of all tokens: the tail of the long document is on one of them, and leaves most room for
  // itself when the lightest documents fill it up.
  std::vector<Token> lengths(40, 100);
  lengths.insert(lengths.end(), 100, 200);
  lengths.insert(lengths.end(), 10, 1000);
  lengths.push_back(8000);
  const DocumentMask mask = mask_of(lengths);
  const Placement placement = place_cost_cut(mask, 2, {.token_cap = 1.02});
  CHECK(is_partition(mask, placement));
  const std::size_t last = placement[0].contains(mask.tokens() - 1) ? 0 : 1;
  for (std::size_t document = 0; document < 40; ++document)
    CHECK(clip(placement[last], mask.document(document).begin, mask.document(document).end) ==
          std::vector<TokenRange>{mask.document(document)});
  const test::PlacementMeasures measures = measure(mask, placement, 0);
  CHECK(measures.cost_max_over_mean < 1.0005);
  CHECK(measures.keys_moved < 8000);
}

TEST_CASE("cost cut: what cannot be met is refused, and says what works") {
  const DocumentMask mask = mask_of({5});
  CHECK_THROWS_WITH(place_cost_cut(mask, 2, {.token_cap = 0.9}), Contains("token_cap is 0.9") && Contains("at least 1.2:"));
  CHECK_THROWS_WITH(place_cost_cut(mask, 2, {.token_cap = std::nan("")}), Contains("token_cap"));
  CHECK_THROWS_WITH(place_cost_cut(mask, 2, {.pairs_per_token = -1}), Contains("pairs_per_token"));
  CHECK_THROWS_WITH(place_cost_cut(mask, 2, {.pairs_per_entering_key = -1}), Contains("pairs_per_entering_key"));
  CHECK_THROWS_WITH(place_cost_cut(mask, 4, {.groups_of_node = {1, 2}}), Contains("3") && Contains("4"));
  CHECK_THROWS_WITH(place_cost_cut(mask, 2, {.groups_of_node = {2, 0}}), Contains("size of a node"));
  CHECK_THROWS_WITH(place_cost_cut(mask, 2, {.speeds = {1}}), Contains("speeds") && Contains("each of 2"));
  CHECK_THROWS_WITH(place_cost_cut(mask, 2, {.speeds = {1, 0}}), Contains("speed") && Contains("positive"));
  CHECK_THROWS_WITH(equal_nodes(4, 0), Contains("groups_per_node"));
  CHECK_THROWS_AS(place_cost_cut(mask, 0), InvalidInput);
  CHECK_THROWS_AS(place_zigzag(mask, 0), InvalidInput);
  CHECK_THROWS_AS(place_contiguous(mask, 0), InvalidInput);
}

TEST_CASE("cost cut: the smallest token cap is the one that whole tokens allow, and works, on nodes of any size") {
  for (const int groups : {2, 3, 7, 11, 48, 64})
    for (const Token tokens : {1, 2, 10, 47, 48, 49, 1'000, 10'007})
      for (const std::vector<int>& nodes : {std::vector<int>{}, equal_nodes(groups, 4),
                                            groups > 2 ? std::vector<int>{groups - 2, 1, 1} : std::vector<int>{2}}) {
        const DocumentMask mask = mask_of({tokens});
        const double least = smallest_token_cap(tokens, groups);
        CAPTURE(groups, tokens, nodes, least);
        CHECK(has_equal_tokens(mask, place_cost_cut(mask, groups, {.token_cap = least, .groups_of_node = nodes})));
        CHECK_THROWS_WITH(place_cost_cut(mask, groups, {.token_cap = least * (1 - 1e-6), .groups_of_node = nodes}),
                          Contains("token_cap"));
      }
  // a cap that lies between two whole numbers of tokens is never exceeded
  const DocumentMask mask = mask_of({100, 7, 300, 20, 573});
  for (const TokenSet& tokens : place_cost_cut(mask, 7, {.token_cap = 1.0101, .groups_of_node = {4, 3}}))
    CHECK(tokens.size() <= 144);  // 1.0101 x 1000 / 7 = 144.3
}

TEST_CASE("cost cut: on nodes of unequal size a document that fits a node stays there") {
  const double share = 6000.0 * 6001 / 2 / 5;  // of one group; the long document costs five of them
  std::vector<Token> lengths(80, static_cast<Token>(std::sqrt(2 * share * 3 / 80)));
  lengths.push_back(6000);
  const DocumentMask mask = mask_of(lengths);
  const Placement placement = place_cost_cut(mask, 8, {.token_cap = 8, .groups_of_node = {5, 3}});
  for (std::size_t group = 5; group < 8; ++group)
    CHECK(clip(placement[group], mask.document(80).begin, mask.document(80).end).empty());
  CHECK(measure(mask, placement, 0).cost_max_over_mean < 1.01);
}

TEST_CASE("cost cut: faster groups are given more work, in proportion, within the token cap") {
  const unsigned seed = GENERATE(25u, 26u, 27u);
  CAPTURE(seed);
  std::mt19937 random(seed);
  const DocumentMask mask = random_packing(random, 300, 13, {});
  std::vector<double> speeds;
  for (int group = 0; group < 11; ++group) speeds.push_back(1 + static_cast<double>(test::draw(random, 0, 4)) / 4);
  const Placement placement =
      place_cost_cut(mask, 11, {.token_cap = 3, .pairs_per_token = 1000, .groups_of_node = {4, 4, 3}, .speeds = speeds});
  CHECK(is_partition(mask, placement));
  const TokenSet all{{0, mask.tokens()}};
  double work = 0, speed = 0, slowest = 0;
  for (std::size_t group = 0; group < placement.size(); ++group) {
    const double cost =
        static_cast<double>(mask.pairs(placement[group], all)) + 1000.0 * static_cast<double>(placement[group].size());
    work += cost;
    speed += speeds[group];
    slowest = std::max(slowest, cost / speeds[group]);
  }
  CHECK(slowest < 1.005 * work / speed);
}

TEST_CASE("cost cut: in a node that takes in many keys tokens are kept more even, at the same balance of costs") {
  // A long document on both nodes, and short ones: the second node takes in the first one's keys.
  std::vector<Token> lengths(3000, 100);
  lengths.push_back(100'000);
  const DocumentMask mask = mask_of(lengths);
  const CostCutOptions plain{.token_cap = 4, .pairs_per_token = 20'000, .groups_of_node = {8, 8}};
  CostCutOptions aware = plain;
  aware.pairs_per_entering_key = 2'000;
  /// The worst group of its layer time: linear work, and attention or what enters its node, whichever takes longer.
  const auto longest = [&](const CostCutOptions& options) {
    const Placement placement = place_cost_cut(mask, 16, options);
    CHECK(is_partition(mask, placement));
    CHECK(measure(mask, placement, 20'000).cost_max_over_mean < 1.005);
    double most = 0;
    for (std::size_t node = 0; node < 2; ++node) {
      TokenSet held;
      for (std::size_t group = 0; group < 8; ++group) held = set_union(held, placement[8 * node + group]);
      const double taking_in = 2'000 * static_cast<double>(difference(mask.keys_seen_by(held), held).size()) / 8;
      for (std::size_t group = 0; group < 8; ++group) {
        const TokenSet& own = placement[8 * node + group];
        const auto pairs = static_cast<double>(mask.pairs(own, {{0, mask.tokens()}}));
        most = std::max(most, 20'000 * static_cast<double>(own.size()) + std::max(pairs, taking_in));
      }
    }
    return most;
  };
  CHECK(longest(aware) <= longest(plain));
}

TEST_CASE("cost cut: for a barrier, tokens and pairs are each within 2 % of their means where documents allow it") {
  const unsigned seed = GENERATE(28u, 29u, 30u);
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (const int groups : {2, 8, 31}) {
    const DocumentMask mask = random_packing(random, 400, 14, {});
    CAPTURE(groups);
    const test::PlacementMeasures measures =
        measure(mask, place_cost_cut(mask, groups, {.token_cap = 1.02, .groups_of_node = equal_nodes(groups, 4)}), 0);
    CHECK(measures.tokens_max_over_mean <= 1.02 + 1e-9);
    CHECK(measures.cost_max_over_mean <= 1.02);
  }
}

// --- cost cut: on random packings -------------------------------------------------------------------------------------

TEST_CASE("cost cut: every token once and never above the cap, on random packings") {
  const unsigned seed = GENERATE(21u, 22u, 23u, 24u);
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (const int groups : kGroups)
    for (const double wanted : {1.0, 1.1, 1.25, 2.0}) {
      const MaskRule rule = test::random_rule(random, 300);
      const DocumentMask mask = random_packing(random, static_cast<int>(test::draw(random, 1, 80)),
                                               static_cast<int>(test::draw(random, 1, 13)), rule);
      const double per_token = std::vector<double>{0, 30, 1000}[static_cast<std::size_t>(test::draw(random, 0, 2))];
      const int per_node = static_cast<int>(test::draw(random, 1, 9));
      const double cap = std::max(wanted, smallest_token_cap(mask.tokens(), groups));
      CAPTURE(groups, cap, to_string(rule), mask.documents(), mask.tokens(), per_token, per_node);
      const CostCutOptions options{
          .token_cap = cap, .pairs_per_token = per_token, .groups_of_node = equal_nodes(groups, per_node)};
      const Placement placement = place_cost_cut(mask, groups, options);
      REQUIRE(placement.size() == static_cast<std::size_t>(groups));
      CHECK(is_partition(mask, placement));
      const double most = cap * static_cast<double>(mask.tokens()) / groups;
      for (const TokenSet& tokens : placement) CHECK(static_cast<double>(tokens.size()) <= most * (1 + 1e-9));
      if (wanted == 1.0) CHECK(has_equal_tokens(mask, placement));
      CHECK(place_cost_cut(mask, groups, options) == placement);
    }
}

TEST_CASE("cost cut: costs are within half a percent of their mean when rows are small beside it") {
  const unsigned seed = GENERATE(31u, 32u);
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (const int groups : {2, 7, 16, 61})
    for (const double cap : {1.0, 1.1, 1.25, 2.0})
      for (const double per_token : {0.0, 5000.0})
        for (const int per_node : {1, 4}) {
          const DocumentMask mask = random_packing(random, 300, 15, {});
          CAPTURE(groups, cap, per_token, per_node, mask.tokens());
          const Placement placement = place_cost_cut(mask, groups,
                                                     {.token_cap = std::max(cap, smallest_token_cap(mask.tokens(), groups)),
                                                      .pairs_per_token = per_token,
                                                      .groups_of_node = equal_nodes(groups, per_node)});
          const test::PlacementMeasures measures = measure(mask, placement, per_token);
          CHECK(measures.cost_max_over_mean < 1.005);
          CHECK(static_cast<double>(measures.keys_moved) >=
                test::fewest_keys_moved(mask, static_cast<double>(measures.max_tokens), measures.max_cost, per_token) *
                    (1 - 1e-9));
        }
}

TEST_CASE("cost cut: costs are balanced under every mask rule") {
  const unsigned seed = GENERATE(41u, 42u, 43u);
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (int kind = 0; kind < test::kRuleKinds; ++kind)
    for (const int groups : {2, 7, 16})
      for (const double cap : {1.0, 1.25}) {
        const MaskRule rule = test::rule_of_kind(kind, test::draw(random, 1, 500), test::draw(random, 100, 2000), 4);
        const DocumentMask mask = random_packing(random, 300, 15, rule);
        CAPTURE(to_string(rule), groups, cap, mask.tokens());
        const Placement placement = place_cost_cut(
            mask, groups,
            {.token_cap = std::max(cap, smallest_token_cap(mask.tokens(), groups)), .groups_of_node = equal_nodes(groups, 4)});
        CHECK(is_partition(mask, placement));
        CHECK(measure(mask, placement, 0).cost_max_over_mean < 1.01);
      }
}

TEST_CASE("cost cut: documents of one token and documents of equal length are spread evenly") {
  for (const int groups : kGroups) {
    CAPTURE(groups);
    const DocumentMask ones = mask_of(std::vector<Token>(1000, 1));
    const Placement single = place_cost_cut(ones, groups, {.groups_of_node = equal_nodes(groups, 4)});
    CHECK(is_partition(ones, single));
    CHECK(measure(ones, single, 0).max_tokens == ceil_of_mean(ones, groups));

    const DocumentMask equal = mask_of(std::vector<Token>(100, 777));
    const Placement placement = place_cost_cut(equal, groups, {.groups_of_node = equal_nodes(groups, 4)});
    CHECK(is_partition(equal, placement));
    CHECK(measure(equal, placement, 0).cost_max_over_mean < 1.005);
  }
}

}  // namespace
}  // namespace hsap
