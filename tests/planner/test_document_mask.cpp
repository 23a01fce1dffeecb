#include <catch2/catch.hpp>

#include "planner/ir/document_mask.hpp"
#include "planner/ir/errors.hpp"
#include "tests/planner/random_sets.hpp"

using namespace hsap;
using namespace hsap::test;

namespace {

/// The definition, written once more and slowly.
bool sees(const DocumentMask& mask, Token query, Token key) {
  for (std::size_t d = 0; d < mask.documents(); ++d) {
    const auto [begin, end] = mask.document(d);
    if (begin <= query && query < end) return begin <= key && key <= query && (!mask.window() || key > query - *mask.window());
  }
  return false;
}

}  // namespace

TEST_CASE("document mask: offsets must start at 0 and ascend, windows hold a token") {
  CHECK_THROWS_WITH(DocumentMask({1, 4}), Catch::Contains("the first must be 0, found 1"));
  CHECK_THROWS_WITH(DocumentMask(std::vector<Token>{}), Catch::Contains("no offset"));
  CHECK_THROWS_WITH(DocumentMask({0, 4, 4}), Catch::Contains("offset 2 is 4, expected more than its predecessor 4"));
  CHECK_THROWS_AS(DocumentMask({0, 4}, 0), InvalidInput);
}

TEST_CASE("document mask: two documents by hand") {
  const DocumentMask mask({0, 3, 8});
  CHECK(mask.tokens() == 8);
  CHECK(mask.documents() == 2);
  CHECK(mask.document_of(2) == 0);
  CHECK(mask.document_of(3) == 1);
  CHECK(mask.visible_keys(5) == TokenRange{3, 6});
  CHECK(mask.pairs() == 6 + 15);
  CHECK(mask.pairs(TokenSet{{4, 6}}, TokenSet{{0, 4}}) == 2);
  CHECK(mask.keys_seen_by(TokenSet{{1, 2}, {5, 6}}) == TokenSet{{0, 2}, {3, 6}});
  CHECK(mask.queries_seeing(TokenSet{{1, 2}, {5, 6}}) == TokenSet{{1, 3}, {5, 8}});
}

TEST_CASE("document mask: a window by hand") {
  const DocumentMask mask({0, 3, 8}, 2);
  CHECK(mask.visible_keys(5) == TokenRange{4, 6});
  CHECK(mask.visible_keys(3) == TokenRange{3, 4});
  CHECK(mask.pairs() == 5 + 9);
  CHECK(mask.keys_seen_by(TokenSet{{5, 7}}) == TokenSet{{4, 7}});
  CHECK(mask.queries_seeing(TokenSet{{5, 6}, {7, 8}}) == TokenSet{{5, 8}});
}

TEST_CASE("document mask: pairs and visibility agree with evaluation pair by pair") {
  const auto seed = GENERATE(range(0u, 80u));
  CAPTURE(seed);
  std::mt19937 random(seed);
  const Token tokens = draw(random, 1, 60);
  std::optional<Token> window;
  if (seed % 2 == 1) window = draw(random, 1, 12);
  const DocumentMask mask = random_mask(random, tokens, draw(random, 1, 25), window);
  const TokenSet queries = random_set(random, tokens, draw(random, 1, 8));
  const TokenSet keys = random_set(random, tokens, draw(random, 1, 8));

  std::int64_t pairs = 0, all_pairs = 0;
  for (Token q = 0; q < tokens; ++q)
    for (Token k = 0; k < tokens; ++k) {
      const bool seen = sees(mask, q, k);
      all_pairs += seen ? 1 : 0;
      pairs += seen && queries.contains(q) && keys.contains(k) ? 1 : 0;
      const auto [begin, end] = mask.visible_keys(q);
      CHECK((begin <= k && k < end) == seen);
    }
  CHECK(mask.pairs(queries, keys) == pairs);
  CHECK(mask.pairs() == all_pairs);
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

TEST_CASE("document mask: a trillion tokens need no time per token") {
  const Token tokens = 1'000'000'000'000;
  const DocumentMask mask({0, tokens / 2, tokens});
  CHECK(mask.pairs(TokenSet{{0, 1'000'000}}, TokenSet{{0, 1'000'000}}) == 500'000'500'000);
  CHECK(mask.keys_seen_by(TokenSet{{tokens - 1, tokens}}) == TokenSet{{tokens / 2, tokens}});
}
