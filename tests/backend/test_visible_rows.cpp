#include <catch2/catch.hpp>

#include "backend/visible_rows.hpp"
#include "tests/backend/pairwise.hpp"
#include "tests/backend/random_problem.hpp"

using namespace hsap;

TEST_CASE("visible rows: the header's example") {
  const std::vector<RowInterval> visible = visible_rows(DocumentMask({0, 9}), TokenSet{{4, 6}}, TokenSet{{0, 2}, {5, 9}});
  REQUIRE(visible.size() == 2);
  CHECK((visible[0].begin == 0 && visible[0].end == 2));
  CHECK((visible[1].begin == 0 && visible[1].end == 3));
}

TEST_CASE("visible rows: equal the mask asked pair by pair, and both ends ascend") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const DocumentMask mask = random_mask(random, random.between(1, 120), true);
    const TokenSet queries = random_tokens(random, mask.tokens(), random.between(0, 100));
    const TokenSet keys = random_tokens(random, mask.tokens(), random.between(0, 100));
    const std::vector<Token> key_tokens = tokens_of(keys);
    const std::vector<RowInterval> visible = visible_rows(mask, queries, keys);
    REQUIRE(visible.size() == static_cast<std::size_t>(queries.size()));
    std::size_t row = 0;
    bool right = true;
    for (const Token query : tokens_of(queries)) {
      const TokenRange seen = mask.visible_keys(query);
      for (std::size_t key = 0; key < key_tokens.size(); ++key) {
        const bool inside = visible[row].begin <= static_cast<Index>(key) && static_cast<Index>(key) < visible[row].end;
        right = right && inside == (seen.begin <= key_tokens[key] && key_tokens[key] < seen.end);
      }
      if (row > 0) right = right && visible[row - 1].begin <= visible[row].begin && visible[row - 1].end <= visible[row].end;
      ++row;
    }
    CHECK(right);
  }
}
