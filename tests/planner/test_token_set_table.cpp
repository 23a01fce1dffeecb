#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "planner/strategies/token_set_table.hpp"
#include "tests/planner/random_sets.hpp"

using namespace hsap;
using namespace hsap::test;

TEST_CASE("token set table: equal sets have equal ids, however many there are") {
  const auto seed = GENERATE(range(0u, 10u));
  CAPTURE(seed);
  std::mt19937 random(seed);
  TokenSetTable table(seed);  // grows many times
  CHECK(table.intern(Ranges{}) == TokenSetTable::kEmpty);

  std::vector<TokenSet> sets{TokenSet{}};  // [id]
  for (int round = 0; round < 400; ++round) {
    const TokenSet set = random_set(random, 12);
    const auto known = std::find(sets.begin(), sets.end(), set);
    const auto id = static_cast<TokenSetId>(known - sets.begin());
    if (known == sets.end()) sets.push_back(set);
    CHECK((round % 2 == 0 ? table.intern(set) : table.intern(set.ranges())) == id);
    CHECK(table[id] == set);
  }
  CHECK(table.take() == sets);
}

TEST_CASE("token set table: sets intersect where they share a token, when asked again as well") {
  const auto seed = GENERATE(range(0u, 40u));
  CAPTURE(seed);
  std::mt19937 random(seed);
  TokenSetTable table(2);
  const Token tokens = seed % 2 == 0 ? 20 : 400;  // few ranges, or so many that the answer is kept
  const TokenSet a = random_set(random, tokens);
  const TokenSet b = seed % 3 == 0 ? difference(TokenSet{{0, tokens}}, a) : random_set(random, tokens);
  const TokenSetId first = table.intern(a);
  const TokenSetId second = table.intern(b);
  for (int time = 0; time < 2; ++time) {
    CHECK(table.intersect(first, second) == !intersection(a, b).empty());
    CHECK(table.intersect(second, first) == !intersection(a, b).empty());
  }
}
