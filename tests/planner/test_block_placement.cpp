// Placements by chunks and by blocks of documents, by hand and on random packings.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>
#include <random>

#include "planner/ir/errors.hpp"
#include "planner/placement/placement.hpp"
#include "tests/planner/placement_measures.hpp"
#include "tests/planner/placement_packings.hpp"

namespace hsap {
namespace {

using Catch::Matchers::Contains;
using test::is_partition;
using test::kGroups;
using test::mask_of;
using test::measure;
using test::random_packing;

// --- chunks and blocks ------------------------------------------------------------------------------------------------

TEST_CASE("chunks by pairs: four chunks of one document on two groups, the costliest with the cheapest") {
  // Chunks of two tokens have 3, 7, 11 and 15 pairs.
  CHECK(place_chunks_by_pairs(mask_of({8}), 2, 2) == Placement{TokenSet{{0, 2}, {6, 8}}, TokenSet{{2, 6}}});
}

TEST_CASE("chunks by pairs: every token once, chunks whole, their numbers equal to one, on random packings") {
  const unsigned seed = GENERATE(41u, 42u);
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (const int groups : kGroups) {
    const DocumentMask mask = random_packing(random, static_cast<int>(test::draw(random, 1, 80)), 12, MaskRule{});
    const Token chunk = test::draw(random, 1, 200);
    CAPTURE(groups, chunk, mask.tokens());
    const Placement placement = place_chunks_by_pairs(mask, groups, chunk);
    REQUIRE(placement.size() == static_cast<std::size_t>(groups));
    CHECK(is_partition(mask, placement));
    const Token chunks = (mask.tokens() + chunk - 1) / chunk;
    for (const TokenSet& tokens : placement) {
      for (const TokenRange& range : tokens.ranges())
        CHECK((range.begin % chunk == 0 && (range.end % chunk == 0 || range.end == mask.tokens())));
      const Token held = (tokens.size() + chunk - 1) / chunk;
      CHECK((held == chunks / groups || held == (chunks + groups - 1) / groups));
    }
  }
}

TEST_CASE("chunks by pairs: with many chunks pairs are within five percent of their mean") {
  const unsigned seed = GENERATE(43u, 44u);
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (const int groups : {4, 16, 61}) {
    const DocumentMask mask = random_packing(random, 300, 15, MaskRule{});
    const Placement placement = place_chunks_by_pairs(mask, groups, mask.tokens() / (groups * 32));
    CHECK(measure(mask, placement, 0).cost_max_over_mean < 1.05);
  }
}

TEST_CASE("chunk_for: a power of two up to 2048, eight per group, but the least that is asked for where every group gets one") {
  CHECK(chunk_for(mask_of({1'000'000}), 8) == 2048);
  CHECK(chunk_for(mask_of({8 * 8 * 100}), 8) == 64);
  CHECK(chunk_for(mask_of({8 * 8 * 100}), 8, 512) == 512);
  CHECK(chunk_for(mask_of({8 * 511}), 8, 512) == 32);
  CHECK(chunk_for(mask_of({3}), 8) == 1);
}

TEST_CASE("blocks: documents that fit stay whole, a document of all tokens is cut tail first") {
  const DocumentMask equal = mask_of(std::vector<Token>(12, 100));
  const Placement whole = place_blocks(equal, 4, {.block = 10, .groups_per_node = 2});
  CHECK(measure(equal, whole, 0).keys_moved == 0);
  for (const TokenSet& tokens : whole) CHECK(tokens.size() == 300);

  // Block k of ten has 100 k + 55 pairs, half of all is 2525: the last two have 1810, the next four 2420, and the other four
  // fit to the first ones within the tolerance.
  CHECK(place_blocks(mask_of({100}), 2, {.block = 10, .token_tolerance = 1}) ==
        Placement{TokenSet{{0, 40}, {80, 100}}, TokenSet{{40, 80}}});
}

TEST_CASE("blocks: every token once, blocks whole, tokens within their tolerance, on random packings") {
  const unsigned seed = GENERATE(51u, 52u, 53u);
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (const int groups : kGroups) {
    const MaskRule rule = test::draw(random, 0, 2) == 0 ? test::random_rule(random, 300) : MaskRule{};
    const DocumentMask mask = random_packing(random, static_cast<int>(test::draw(random, 1, 80)), 12, rule);
    const BlockOptions options{.block = test::draw(random, 1, 200),
                               .groups_per_node = static_cast<int>(test::draw(random, 1, 9))};
    CAPTURE(groups, options.block, options.groups_per_node, mask.tokens());
    const Placement placement = place_blocks(mask, groups, options);
    REQUIRE(placement.size() == static_cast<std::size_t>(groups));
    CHECK(is_partition(mask, placement));
    for (const TokenSet& tokens : placement)
      for (const TokenRange& range : tokens.ranges()) {
        const TokenRange document = mask.document(mask.document_of(range.begin));
        CHECK((range.begin - document.begin) % options.block == 0);
      }
    CHECK(place_blocks(mask, groups, options) == placement);
  }
}

TEST_CASE("blocks: pairs and tokens keep within their tolerances when blocks are small, and less moves than with chunks") {
  const unsigned seed = GENERATE(54u, 55u);
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (const int groups : {8, 16, 64}) {
    const DocumentMask mask = random_packing(random, 600, 13, MaskRule{});
    const Token block = mask.tokens() / (groups * 64);
    CAPTURE(groups, block, mask.tokens());
    const test::PlacementMeasures blocks = measure(mask, place_blocks(mask, groups, {.block = block, .groups_per_node = 8}), 0);
    CHECK(blocks.cost_max_over_mean < 1.4 * 1.1);
    CHECK(blocks.tokens_max_over_mean < 1.25);
    CHECK(blocks.keys_moved < measure(mask, place_chunks_by_pairs(mask, groups, block), 0).keys_moved);
  }
}

TEST_CASE("chunks and blocks: what cannot be met is refused, and says what works") {
  const DocumentMask mask = mask_of({5});
  CHECK_THROWS_WITH(place_chunks_by_pairs(mask, 2, 0), Contains("chunk") && Contains("at least 1"));
  CHECK_THROWS_WITH(place_chunks_by_pairs(mask, 0, 1), Contains("groups"));
  CHECK_THROWS_WITH(place_blocks(mask, 2, {}), Contains("block") && Contains("at least 1"));
  CHECK_THROWS_WITH(place_blocks(mask, 2, {.block = 1, .groups_per_node = 0}), Contains("groups_per_node"));
  CHECK_THROWS_WITH(place_blocks(mask, 2, {.block = 1, .group_tolerance = -1}), Contains("tolerance"));
  CHECK_THROWS_AS(place_blocks(mask, 0, {.block = 1}), InvalidInput);
}

}  // namespace
}  // namespace hsap
