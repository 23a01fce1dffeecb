// Tile counts by hand and against counting token by token.
#include "planner/cost/attention_tiles.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <set>

#include "tests/mask_rules.hpp"

using namespace hsap;

namespace {

/// From the definition: compact rows and keys of each document, blocks of packed rows, steps from the first to the last key
/// seen.
TileCount count_slowly(const DocumentMask& mask, const TokenSet& queries, const TokenSet& keys, int heads, TileShape tile) {
  TileCount count;
  for (std::size_t d = 0; d < mask.documents(); ++d) {
    std::vector<Token> rows, columns;
    for (Token t = mask.document(d).begin; t < mask.document(d).end; ++t) {
      if (queries.contains(t)) rows.insert(rows.end(), static_cast<std::size_t>(heads), t);
      if (keys.contains(t)) columns.push_back(t);
    }
    for (std::size_t first = 0; first < rows.size(); first += static_cast<std::size_t>(tile.rows)) {
      const std::size_t last = std::min(rows.size(), first + static_cast<std::size_t>(tile.rows)) - 1;
      std::set<std::int64_t> steps, sink_steps;
      const TokenRange sinks = mask.visible_keys(rows[last]).sinks;
      for (std::size_t c = 0; c < columns.size(); ++c) {
        const auto step = static_cast<std::int64_t>(c) / tile.keys;
        if (columns[c] >= mask.visible_keys(rows[first]).main.begin && columns[c] < mask.visible_keys(rows[last]).main.end)
          steps.insert(step);
        if (columns[c] >= sinks.begin && columns[c] < sinks.end) sink_steps.insert(step);
      }
      if (steps.empty() && sink_steps.empty()) continue;
      const auto length = static_cast<std::int64_t>(steps.size() + sink_steps.size());
      ++count.blocks;
      count.tiles += length;
      count.longest_block = std::max(count.longest_block, length);
    }
  }
  return count;
}

/// 0 .. below-1.
Token draw(std::mt19937& random, Token below) { return static_cast<Token>(random()) % below; }

TokenSet random_set(std::mt19937& random, Token tokens) {
  std::vector<TokenRange> ranges;
  for (Token i = draw(random, 5); i > 0; --i) {
    const Token begin = draw(random, tokens);
    ranges.push_back({begin, std::min(tokens, begin + 1 + draw(random, 12))});
  }
  return TokenSet(std::move(ranges));
}

}  // namespace

TEST_CASE("tiles of one document against itself: blocks of 1, 2, 3 steps") {
  const DocumentMask mask({0, 300});
  const TokenSet all{{0, 300}};
  CHECK(count_tiles(mask, all, all, 1, {128, 128}) == TileCount{3, 6, 3});
  CHECK(count_tiles(mask, all, all, 4, {128, 128}) == TileCount{10, 18, 3});  // 32 tokens a block
  CHECK(count_tiles(mask, TokenSet{{200, 300}}, TokenSet{{0, 200}}, 1, {128, 128}) == TileCount{1, 2, 2});
  CHECK(count_tiles(mask, TokenSet{{0, 200}}, TokenSet{{200, 300}}, 1, {128, 128}) == TileCount{0, 0, 0});
}

TEST_CASE("tiles: documents do not share tiles, pieces of a document do") {
  CHECK(count_tiles(DocumentMask({0, 100, 200}), TokenSet{{0, 200}}, TokenSet{{0, 200}}, 1, {128, 128}) == TileCount{2, 2, 1});
  const TokenSet pieces{{0, 60}, {500, 560}};
  CHECK(count_tiles(DocumentMask({0, 1000}), pieces, pieces, 1, {128, 128}) == TileCount{1, 1, 1});
}

TEST_CASE("tiles: a sliding window skips the keys before it") {
  const DocumentMask mask({0, 1024}, window_rule(128));
  const TokenSet all{{0, 1024}};
  CHECK(count_tiles(mask, all, all, 1, {128, 128}) == TileCount{8, 15, 2});
  CHECK(count_tiles(mask, TokenSet{{512, 1024}}, TokenSet{{0, 200}}, 1, {128, 128}) == TileCount{0, 0, 0});
}

TEST_CASE("tiles: sinks, blocks and later keys") {
  const TokenSet all{{0, 1024}};
  MaskRule rule = window_rule(128);
  rule.sinks = 4;  // one more step, but not where the window still holds them
  CHECK(count_tiles(DocumentMask({0, 1024}, rule), all, all, 1, {128, 128}) == TileCount{8, 15 + 7, 3});
  CHECK(count_tiles(DocumentMask({0, 1024}, block_rule(256)), all, all, 1, {128, 128}) == TileCount{8, 4 * (1 + 2), 2});
  rule = MaskRule{};
  rule.right = std::nullopt;
  CHECK(count_tiles(DocumentMask({0, 1024}, rule), all, all, 1, {128, 128}) == TileCount{8, 8 * 8, 8});
}

TEST_CASE("tiles equal a count token by token") {
  const unsigned seed = GENERATE(1U, 2U, 3U, 4U, 5U, 6U);
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 200; ++i) {
    std::vector<Token> offsets{0};
    for (Token d = 1 + draw(random, 5); d > 0; --d) offsets.push_back(offsets.back() + 1 + draw(random, 20));
    const Token tokens = offsets.back();
    const int kind = static_cast<int>(draw(random, test::kRuleKinds));
    const Token near = 1 + draw(random, 9), far = 1 + draw(random, 9), sinks = 1 + draw(random, 5);
    const DocumentMask mask(offsets, test::rule_of_kind(kind, near, far, sinks));
    const TokenSet queries = random_set(random, tokens), keys = random_set(random, tokens);
    const int heads = 1 + static_cast<int>(draw(random, 3));
    const TileShape tile{1 + static_cast<int>(draw(random, 6)), 1 + static_cast<int>(draw(random, 6))};
    const TileCount fast = count_tiles(mask, queries, keys, heads, tile), slow = count_slowly(mask, queries, keys, heads, tile);
    CAPTURE(i, offsets, queries.ranges().size(), keys.ranges().size(), heads, tile.rows, tile.keys, to_string(mask.rule()));
    CHECK(fast.blocks == slow.blocks);
    CHECK(fast.tiles == slow.tiles);
    CHECK(fast.longest_block == slow.longest_block);
  }
}
