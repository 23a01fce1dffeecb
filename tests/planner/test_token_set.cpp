#include <catch2/catch.hpp>

#include "planner/ir/token_set.hpp"
#include "tests/planner/random_sets.hpp"

using namespace hsap;
using namespace hsap::test;

namespace {

std::vector<TokenRange> ranges(const TokenSet& set) { return {set.ranges().begin(), set.ranges().end()}; }

/// Sorted, none empty, none touching, rows counted.
void check_normal(const TokenSet& set) {
  Token size = 0;
  for (std::size_t i = 0; i < set.ranges().size(); ++i) {
    CHECK(set.ranges()[i].begin < set.ranges()[i].end);
    if (i > 0) CHECK(set.ranges()[i - 1].end < set.ranges()[i].begin);
    size += set.ranges()[i].size();
  }
  CHECK(set.size() == size);
}

}  // namespace

TEST_CASE("token set: ranges are sorted, merged when they overlap or touch, and empty ones dropped") {
  CHECK(ranges(TokenSet{{4, 6}, {0, 2}, {2, 3}, {5, 9}, {12, 12}}) == std::vector<TokenRange>{{0, 3}, {4, 9}});
  CHECK(TokenSet{{3, 3}}.empty());
  const std::vector<TokenRange> normal{{0, 3}, {4, 9}, {11, 12}};  // more than a set keeps in place
  CHECK(TokenSet::of_normalised(normal) == TokenSet{{0, 3}, {4, 9}, {11, 12}});
  CHECK(TokenSet::of_normalised(normal).size() == 9);
  CHECK(TokenSet{{0, 2}, {2, 4}} == TokenSet{{0, 4}});
  CHECK(TokenSet{{0, 10}, {2, 3}}.size() == 10);
}

TEST_CASE("token set: row_of counts the members below") {
  const TokenSet set{{4, 6}, {9, 12}};
  CHECK(set.row_of(4) == 0);
  CHECK(set.row_of(10) == 3);
  CHECK(set.row_of(0) == 0);
  CHECK(set.row_of(7) == 2);
  CHECK(set.row_of(12) == 5);

  std::vector<TokenRange> many;  // more than are added up each time
  for (Token i = 0; i < 100; ++i) many.push_back({3 * i, 3 * i + 2});
  const TokenSet of_many(many);
  for (Token i = 0; i < 100; ++i) {
    CHECK(of_many.row_of(3 * i + 1) == 2 * i + 1);
    CHECK(of_many.row_of(3 * i + 2) == 2 * i + 2);
  }
  CHECK(of_many.row_of(1000) == 200);
}

TEST_CASE("token set: clip cuts ranges at both ends") {
  const TokenSet set{{0, 4}, {6, 8}, {10, 20}};
  CHECK(clip(set, 2, 12) == std::vector<TokenRange>{{2, 4}, {6, 8}, {10, 12}});
  CHECK(clip(set, 4, 6).empty());
  CHECK(clip(set, 8, 8).empty());
}

TEST_CASE("token set: set operations agree with token by token evaluation") {
  const auto seed = GENERATE(range(0u, 60u));
  CAPTURE(seed);
  std::mt19937 random(seed);
  const Token tokens = draw(random, 1, 120);
  const TokenSet a = random_set(random, tokens, draw(random, 1, 9));
  // Every third pair has one side of few ranges, for which intersection searches instead of merging.
  const TokenSet b = random_set(random, tokens, seed % 3 == 0 ? 60 : draw(random, 1, 9));
  check_normal(a);
  CHECK(intersection(a, b) == set_of(tokens, [&](Token t) { return a.contains(t) && b.contains(t); }));
  CHECK(intersection(b, a) == intersection(a, b));
  CHECK(set_union(a, b) == set_of(tokens, [&](Token t) { return a.contains(t) || b.contains(t); }));
  CHECK(difference(a, b) == set_of(tokens, [&](Token t) { return a.contains(t) && !b.contains(t); }));
  CHECK(a.intersects(b) == !intersection(a, b).empty());
  CHECK(a.contains(b) == difference(b, a).empty());
  CHECK(set_union(a, b).contains(b));
  check_normal(set_union(a, b));

  for (const TokenSet& set : {a, b}) {  // b often has few ranges
    const std::vector<Token> listed = members(set);
    CHECK(set.size() == static_cast<Token>(listed.size()));
    for (Token t = 0; t < tokens; ++t) {
      const auto below = std::lower_bound(listed.begin(), listed.end(), t);
      CHECK(set.contains(t) == (below != listed.end() && *below == t));
      CHECK(set.row_of(t) == below - listed.begin());
    }
  }
  const Token begin = draw(random, 0, tokens);
  const Token end = draw(random, begin, tokens);
  CHECK(TokenSet(clip(a, begin, end)) == intersection(a, TokenSet{{begin, end}}));
}

TEST_CASE("token set: intersection with a much larger set agrees with the other order of evaluation") {
  std::mt19937 random(7);
  const TokenSet many = random_set(random, 4000, 3);
  const TokenSet few{{100, 140}, {1999, 2003}, {3990, 4000}};
  REQUIRE(many.ranges().size() > 16 * few.ranges().size());
  CHECK(intersection(few, many) == set_of(4000, [&](Token t) { return few.contains(t) && many.contains(t); }));
  CHECK(intersection(many, few) == intersection(few, many));
}
