#include <algorithm>
#include <catch2/catch.hpp>

#include "backend/visible_rows.hpp"
#include "tests/backend/pairwise.hpp"
#include "tests/backend/random_problem.hpp"

using namespace hsap;

TEST_CASE("visible rows: the header's example") {
  const VisibleRows visible = visible_rows(DocumentMask({0, 9}), TokenSet{{4, 6}}, TokenSet{{0, 2}, {5, 9}});
  REQUIRE(visible.main.size() == 2);
  CHECK((visible.main[0].begin == 0 && visible.main[0].end == 2));
  CHECK((visible.main[1].begin == 0 && visible.main[1].end == 3));
  CHECK(visible.sinks_or_null() == nullptr);
}

TEST_CASE("visible rows: equal the mask asked pair by pair, and no end descends") {
  for (unsigned seed = 0; seed < 600; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const DocumentMask mask = random_mask(random, random.between(1, 120), true);
    const TokenSet queries = random_tokens(random, mask.tokens(), random.between(0, 100));
    const TokenSet keys = random_tokens(random, mask.tokens(), random.between(0, 100));
    const std::vector<Token> key_tokens = tokens_of(keys);
    CAPTURE(to_string(mask.rule()));
    const VisibleRows visible = visible_rows(mask, queries, keys);
    std::vector<std::vector<RowInterval>> lists{visible.main};
    if (mask.rule().sinks > 0) lists.push_back(visible.sinks);
    bool right = true;
    for (const auto& list : lists) {
      REQUIRE(list.size() == static_cast<std::size_t>(queries.size()));
      for (std::size_t row = 1; row < list.size(); ++row)
        right = right && list[row - 1].begin <= list[row].begin && list[row - 1].end <= list[row].end;
    }
    std::size_t row = 0;
    for (const Token query : tokens_of(queries)) {
      for (std::size_t key = 0; key < key_tokens.size(); ++key) {
        const auto times = std::count_if(lists.begin(), lists.end(), [&](const auto& list) {
          return list[row].begin <= static_cast<Index>(key) && static_cast<Index>(key) < list[row].end;
        });
        right = right && times == (test::sees(mask, query, key_tokens[key]) ? 1 : 0);
      }
      ++row;
    }
    CHECK(right);
  }
}
