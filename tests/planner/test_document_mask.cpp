#include <catch2/catch.hpp>

#include "planner/ir/document_mask.hpp"
#include "planner/ir/errors.hpp"
#include "tests/planner/random_sets.hpp"

using namespace hsap;
using namespace hsap::test;

TEST_CASE("document mask: offsets must start at 0 and ascend, rules make sense") {
  CHECK_THROWS_WITH(DocumentMask({1, 4}), Catch::Contains("the first must be 0, found 1"));
  CHECK_THROWS_WITH(DocumentMask(std::vector<Token>{}), Catch::Contains("no offset"));
  CHECK_THROWS_WITH(DocumentMask({0, 4, 4}), Catch::Contains("offset 2 is 4, expected more than its predecessor 4"));
  CHECK_THROWS_WITH(DocumentMask({0, 4}, block_rule(0)), Catch::Contains("chunk is 0"));
}

TEST_CASE("document mask: two documents by hand") {
  const DocumentMask mask({0, 3, 8});
  CHECK(mask.tokens() == 8);
  CHECK(mask.documents() == 2);
  CHECK(mask.document_of(2) == 0);
  CHECK(mask.document_of(3) == 1);
  CHECK(mask.visible_keys(5) == VisibleKeys{{3, 3}, {3, 6}});
  CHECK(mask.pairs() == 6 + 15);
  CHECK(mask.pairs(TokenSet{{4, 6}}, TokenSet{{0, 4}}) == 2);
  CHECK(mask.keys_seen_by(TokenSet{{1, 2}, {5, 6}}) == TokenSet{{0, 2}, {3, 6}});
  CHECK(mask.queries_seeing(TokenSet{{1, 2}, {5, 6}}) == TokenSet{{1, 3}, {5, 8}});
}

TEST_CASE("document mask: a window by hand") {
  const DocumentMask mask({0, 3, 8}, window_rule(2));
  CHECK(mask.visible_keys(5).main == TokenRange{4, 6});
  CHECK(mask.visible_keys(3).main == TokenRange{3, 4});
  CHECK(mask.pairs() == 5 + 9);
  CHECK(mask.keys_seen_by(TokenSet{{5, 7}}) == TokenSet{{4, 7}});
  CHECK(mask.queries_seeing(TokenSet{{5, 6}, {7, 8}}) == TokenSet{{5, 8}});
}

TEST_CASE("document mask: a window with sinks by hand") {
  MaskRule rule = window_rule(2);
  rule.sinks = 2;
  const DocumentMask mask({0, 3, 11}, rule);
  CHECK(mask.visible_keys(8) == VisibleKeys{{3, 5}, {7, 9}});
  CHECK(mask.visible_keys(5) == VisibleKeys{{3, 4}, {4, 6}});  // the second sink is in the window
  CHECK(mask.pairs() == 6 + (1 + 2 + 3 + 5 * 4));
  CHECK(mask.keys_seen_by(TokenSet{{7, 9}}) == TokenSet{{3, 5}, {6, 9}});
  CHECK(mask.queries_seeing(TokenSet{{4, 5}}) == TokenSet{{4, 11}});
  CHECK(mask.queries_seeing(TokenSet{{6, 7}}) == TokenSet{{6, 8}});
}

TEST_CASE("document mask: blocks and a prefix by hand") {
  const DocumentMask blocks({0, 3, 11}, block_rule(3));
  CHECK(blocks.visible_keys(7).main == TokenRange{6, 8});
  CHECK(blocks.pairs() == 6 + (6 + 6 + 3));
  CHECK(blocks.keys_seen_by(TokenSet{{8, 10}}) == TokenSet{{6, 10}});
  CHECK(blocks.queries_seeing(TokenSet{{7, 8}}) == TokenSet{{7, 9}});
  MaskRule rule;
  rule.prefix = 4;
  const DocumentMask prefix({0, 3, 11}, rule);
  CHECK(prefix.visible_keys(1).main == TokenRange{0, 3});
  CHECK(prefix.visible_keys(4).main == TokenRange{3, 7});
  CHECK(prefix.pairs() == 9 + (16 + 5 + 6 + 7 + 8));
}

TEST_CASE("document mask: pairs and visibility agree with evaluation pair by pair") {
  const auto seed = GENERATE(range(0u, 400u));
  CAPTURE(seed);
  std::mt19937 random(seed);
  const Token tokens = draw(random, 1, 60);
  const DocumentMask mask = random_mask(random, tokens, draw(random, 1, 25), random_rule(random, 12));
  INFO(to_string(mask.rule()));
  const TokenSet queries = random_set(random, tokens, draw(random, 1, 8));
  const TokenSet keys = random_set(random, tokens, draw(random, 1, 8));

  std::int64_t pairs = 0, all_pairs = 0;
  for (Token q = 0; q < tokens; ++q)
    for (Token k = 0; k < tokens; ++k) {
      const bool seen = sees(mask, q, k);
      all_pairs += seen ? 1 : 0;
      pairs += seen && queries.contains(q) && keys.contains(k) ? 1 : 0;
      CHECK(mask.visible_keys(q).contains(k) == seen);
    }
  CHECK(mask.pairs(queries, keys) == pairs);
  CHECK(mask.pairs() == all_pairs);
  for (Token q = 0; q < tokens; ++q)
    CHECK(mask.visible_keys(q).size() == mask.pairs(TokenSet{{q, q + 1}}, TokenSet{{0, tokens}}));
  CHECK(mask.pairs(TokenSet{{0, tokens}}, TokenSet{{0, tokens}}) == all_pairs);
  CHECK(mask.pairs(TokenSet{}, keys) == 0);
  CHECK(mask.pairs(queries, TokenSet{}) == 0);

  const std::vector<Token> each_query = members(queries);
  const std::vector<Token> each_key = members(keys);
  CHECK(mask.keys_seen_by(queries) == set_of(tokens, [&](Token k) {
          return std::any_of(each_query.begin(), each_query.end(), [&](Token q) { return sees(mask, q, k); });
        }));
  CHECK(mask.queries_seeing(keys) == set_of(tokens, [&](Token q) {
          return std::any_of(each_key.begin(), each_key.end(), [&](Token k) { return sees(mask, q, k); });
        }));
}

TEST_CASE("mask rule: what a document's rows see, and its first rows together, agree with evaluation pair by pair") {
  const auto seed = GENERATE(range(0u, 200u));
  CAPTURE(seed);
  std::mt19937 random(seed);
  const Token length = draw(random, 1, 40);
  const DocumentMask mask({0, length}, random_rule(random, seed % 5 == 0 ? 90 : 15));
  const MaskRule& rule = mask.rule();
  INFO(to_string(rule));
  bool later_keys = false;
  std::int64_t pairs = 0;
  for (Token row = 0; row < length; ++row) {
    CHECK(rule.pairs(row, length) == pairs);
    for (Token key = 0; key < length; ++key) {
      const bool seen = sees(mask, row, key);
      pairs += seen ? 1 : 0;
      later_keys = later_keys || (seen && key > row);
      const bool in_main = rule.first_key(row) <= key && key < rule.end_key(row, length);
      CHECK((in_main || key < rule.sink_end(row)) == seen);
      CHECK((rule.first_query(key) <= row && row < rule.end_query(key, length)) == in_main);
    }
    CHECK(rule.sink_end(row) <= rule.first_key(row));
  }
  CHECK(rule.pairs(length, length) == pairs);
  if (length > 1) CHECK(rule.is_causal() == !later_keys);
}

TEST_CASE("document mask: four billion tokens need no time per token") {
  const Token tokens = 4'000'000'000;
  const DocumentMask mask({0, tokens / 2, tokens});
  CHECK(mask.pairs(TokenSet{{0, 1'000'000}}, TokenSet{{0, 1'000'000}}) == 500'000'500'000);
  CHECK(mask.keys_seen_by(TokenSet{{tokens - 1, tokens}}) == TokenSet{{tokens / 2, tokens}});
  MaskRule rule = block_rule(1'000'000);
  rule.sinks = 4;
  const DocumentMask blocks({0, tokens / 2, tokens}, rule);
  CHECK(blocks.pairs() == tokens / 2 * 1'000'001 + 2 * (tokens / 2 - 1'000'000) * 4);
  CHECK(blocks.queries_seeing(TokenSet{{7, 8}}) == TokenSet{{7, 1'000'000}});
}
