#include <catch2/catch.hpp>

#include "planner/ir/verify/exact_cover.hpp"
#include "tests/planner/random_sets.hpp"

using namespace hsap;
using namespace hsap::proof;
using namespace hsap::test;

namespace {

/// Cuts [0, tokens) into `count` sets at random, so that they tile it; now and then one of them is spoiled.
std::vector<TokenSet> random_tiling(std::mt19937& random, Token tokens, int count) {
  std::vector<std::vector<TokenRange>> parts(static_cast<std::size_t>(count));
  for (Token at = 0; at < tokens;) {
    const Token end = std::min(tokens, at + draw(random, 1, 6));
    parts[static_cast<std::size_t>(draw(random, 0, count - 1))].push_back({at, end});
    at = end;
  }
  std::vector<TokenSet> sets;
  for (auto& ranges : parts) sets.emplace_back(std::move(ranges));
  if (draw(random, 0, 2) > 0) {
    TokenSet& spoiled = sets[static_cast<std::size_t>(draw(random, 0, count - 1))];
    const Token at = draw(random, 0, tokens - 1);
    const TokenSet one{{at, at + 1}};
    spoiled = spoiled.contains(at) ? difference(spoiled, one) : set_union(spoiled, one);
  }
  return sets;
}

/// Distinct sets behind the empty one, and where each of the given sets is found.
struct Interned {
  std::vector<TokenSet> sets{TokenSet{}};
  TokenSetId id_of(const TokenSet& set) {
    const auto known = std::find(sets.begin(), sets.end(), set);
    if (known != sets.end()) return static_cast<TokenSetId>(known - sets.begin());
    sets.push_back(set);
    return static_cast<TokenSetId>(sets.size() - 1);
  }
};

}  // namespace

TEST_CASE("exact cover: agrees with counting pair by pair, and names a pair that is wrong") {
  const auto seed = GENERATE(range(0u, 1500u));
  CAPTURE(seed);
  std::mt19937 random(seed);
  const Token tokens = draw(random, 1, 40);
  const DocumentMask mask = random_mask(random, tokens, draw(random, 1, 20), random_rule(random, 10));
  INFO(to_string(mask.rule()));
  const auto direction = seed % 4 < 2 ? Direction::keys_of_queries : Direction::queries_of_keys;
  const TokenSet rows = random_set(random, tokens, 8);
  const std::vector<TokenSet> terms = random_tiling(random, tokens, static_cast<int>(draw(random, 1, 4)));
  if (rows.empty()) return;

  Interned interned;
  const TokenSetId row_set = interned.id_of(rows);
  std::vector<TokenSetId> ids;
  for (const TokenSet& term : terms)
    if (!term.empty()) ids.push_back(interned.id_of(term));
  if (ids.empty()) return;

  const TokenAlgebra sets(interned.sets);
  TokenCounts counts(sets);
  Values values;
  ValueId value = values.term({ids[0], {0, 1}});
  for (std::size_t i = 1; i < ids.size(); ++i) value = values.sum(value, values.term({ids[i], {0, 1}}));
  ExactCover cover(mask, sets, values, counts);
  const auto gap = cover.find_gap(value, row_set, {0, 1}, direction);

  const auto paired = [&](Token row, Token other) {
    return direction == Direction::keys_of_queries ? sees(mask, row, other) : sees(mask, other, row);
  };
  const auto times = [&](Token other) {
    return std::count_if(terms.begin(), terms.end(), [&](const TokenSet& term) { return term.contains(other); });
  };
  bool right = true;
  for (const Token row : members(rows))
    for (Token other = 0; other < tokens; ++other) right = right && (!paired(row, other) || times(other) == 1);
  CHECK(gap.has_value() != right);
  if (!gap) return;
  CHECK(rows.contains(gap->row));
  CHECK(paired(gap->row, gap->other));
  CHECK(gap->times == times(gap->other));
  CHECK(gap->times != 1);
}

TEST_CASE("exact cover: query heads of one kv head are counted apart") {
  const DocumentMask mask({0, 8});
  const std::vector<TokenSet> given{TokenSet{}, TokenSet{{0, 8}}};
  const TokenAlgebra sets(given);
  TokenCounts counts(sets);
  Values values;
  ExactCover cover(mask, sets, values, counts);
  const ValueId half = values.term({1, {0, 2}});
  const auto gap = cover.find_gap(half, 1, {0, 4}, Direction::queries_of_keys);
  REQUIRE(gap);
  CHECK(gap->query_head == 2);
  CHECK(gap->times == 0);
  const ValueId whole = values.sum(half, values.term({1, {2, 4}}));
  CHECK_FALSE(cover.find_gap(whole, 1, {0, 4}, Direction::queries_of_keys));
  // The heads that overlap are counted twice.
  const ValueId too_much = values.sum(half, values.term({1, {1, 4}}));
  const auto twice = cover.find_gap(too_much, 1, {0, 4}, Direction::queries_of_keys);
  REQUIRE(twice);
  CHECK(twice->query_head == 1);
  CHECK(twice->times == 2);
}
