// Sets of positions on the packed token axis, kept as sorted, disjoint, non-touching half-open ranges.
// Every row set in a Schedule is one of these, so that nothing in hsap loops over tokens.
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "planner/ir/ids.hpp"
#include "planner/ir/in_place_list.hpp"

namespace hsap {

/// Tokens begin .. end-1.
struct TokenRange {
  Token begin = 0;
  Token end = 0;
  Token size() const { return end - begin; }
  bool operator==(const TokenRange&) const = default;
};

/// Ranges that ascend and do not overlap.
using Ranges = std::span<const TokenRange>;

/// @post ranges() ascend, none is empty, and no two touch: equal sets have equal ranges.
class TokenSet {
 public:
  TokenSet() = default;
  TokenSet(std::initializer_list<TokenRange> ranges);
  /// Ranges in any order, empty ones allowed, overlaps merged. O(n log n), O(n) when they are already sorted.
  explicit TokenSet(std::vector<TokenRange> ranges);
  /// Ranges that are normalised.
  static TokenSet of_normalised(Ranges ranges);

  /// Valid as long as the set stays where it is.
  Ranges ranges() const { return {ranges_.data(), ranges_.size()}; }
  Token size() const { return size_; }
  bool empty() const { return ranges_.empty(); }
  bool contains(Token token) const;
  bool contains(const TokenSet& other) const;
  bool intersects(const TokenSet& other) const;

  /// Row of `token` when the set is stored compactly in ascending order: {[4,6),[9,12)}.row_of(10) == 3.
  /// For a token outside the set: the number of members below it. O(log n).
  Token row_of(Token token) const;

  bool operator==(const TokenSet& other) const { return ranges_ == other.ranges_; }

 private:
  explicit TokenSet(Ranges ranges);

  InPlaceList<TokenRange, 2> ranges_;
  std::vector<Token> rows_before_;  // rows_before_[i] = members in ranges_[0..i); empty for few ranges
  Token size_ = 0;
};

/// Sorts, merges what overlaps or touches, and drops empty ranges: what a TokenSet keeps. O(n log n), O(n) when they are
/// sorted.
void normalise(std::vector<TokenRange>& ranges);

TokenSet intersection(const TokenSet& a, const TokenSet& b);  ///< O(|a| + |b|), or |b| log |a| when b is much smaller
TokenSet set_union(const TokenSet& a, const TokenSet& b);     ///< O(|a| + |b|)
TokenSet difference(const TokenSet& a, const TokenSet& b);    ///< members of a not in b, O(|a| + |b|)

/// The part of `set` inside [begin, end), as ranges. O(log n + result).
std::vector<TokenRange> clip(const TokenSet& set, Token begin, Token end);
/// The same, added to the end of `ranges`.
void add_clipped(const TokenSet& set, Token begin, Token end, std::vector<TokenRange>& ranges);

}  // namespace hsap
