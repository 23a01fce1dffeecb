#include "planner/ir/verify/token_algebra.hpp"

#include <utility>

#include "planner/ir/errors.hpp"

namespace hsap::proof {

namespace {

std::size_t hash_of(const TokenSet& set) {
  std::uint64_t hash = set.ranges().size();
  const auto mix = [&](Token value) {
    hash = (hash ^ static_cast<std::uint64_t>(value)) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 29;
  };
  for (const TokenRange& range : set.ranges()) mix(range.begin), mix(range.end);
  return static_cast<std::size_t>(hash);
}

}  // namespace

TokenAlgebra::TokenAlgebra(const std::vector<TokenSet>& given) : given_(given) {
  if (given.empty() || !given[kEmpty].empty())
    throw InvalidInput("token sets: set 0 must be the empty set, found " +
                       (given.empty() ? "no set at all" : std::to_string(given[0].size()) + " tokens"));
  by_hash_.reserve(2 * given.size());
  for (TokenSetId id = 0; id < given.size(); ++id) {
    const std::size_t hash = hash_of(given[id]);
    const auto [first, last] = by_hash_.equal_range(hash);
    for (auto known = first; known != last; ++known)
      if (given[known->second] == given[id])
        throw InvalidInput("token sets: set " + std::to_string(id) + " equals set " + std::to_string(known->second) +
                           "; each set is listed once");
    by_hash_.emplace(hash, id);
  }
}

TokenSetId TokenAlgebra::id_of(TokenSet set) {
  const std::size_t hash = hash_of(set);
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto known = first; known != last; ++known)
    if ((*this)[known->second] == set) return known->second;
  const auto id = static_cast<TokenSetId>(given_.size() + derived_.size());
  derived_.push_back(std::move(set));
  by_hash_.emplace(hash, id);
  return id;
}

TokenSetId TokenAlgebra::intersection(TokenSetId a, TokenSetId b) {
  if (a == b) return a;
  if (a == kEmpty || b == kEmpty) return kEmpty;
  if (b < a) std::swap(a, b);
  // Most sets are one range or lie apart: no need to remember those.
  const Ranges ranges_a = (*this)[a].ranges();
  const Ranges ranges_b = (*this)[b].ranges();
  const TokenRange hull_a{ranges_a.front().begin, ranges_a.back().end};
  const TokenRange hull_b{ranges_b.front().begin, ranges_b.back().end};
  if (hull_a.end <= hull_b.begin || hull_b.end <= hull_a.begin) return kEmpty;
  if (ranges_a.size() == 1 && hull_a.begin <= hull_b.begin && hull_b.end <= hull_a.end) return b;
  if (ranges_b.size() == 1 && hull_b.begin <= hull_a.begin && hull_a.end <= hull_b.end) return a;
  if (const auto known = intersections_.find(a, b)) return *known;
  const TokenSetId result = id_of(hsap::intersection((*this)[a], (*this)[b]));
  intersections_.insert(a, b, result);
  return result;
}

TokenSetId TokenAlgebra::difference(TokenSetId a, TokenSetId b) {
  if (a == b) return kEmpty;
  if (intersection(a, b) == kEmpty) return a;
  if (const auto known = differences_.find(a, b)) return *known;
  const TokenSetId result = id_of(hsap::difference((*this)[a], (*this)[b]));
  differences_.insert(a, b, result);
  return result;
}

}  // namespace hsap::proof
