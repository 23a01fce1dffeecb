#include "planner/ir/token_set.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace hsap {

namespace {

/// The sizes of so many ranges are added up nearly as quickly as their sums are looked up, and need no memory for them.
constexpr std::size_t kFewRanges = 32;

/// First range that ends after `token`.
Ranges::iterator range_reaching(Ranges ranges, Token token) {
  return std::upper_bound(ranges.begin(), ranges.end(), token, [](Token t, const TokenRange& r) { return t < r.end; });
}

Ranges normalised(std::vector<TokenRange>& ranges) {
  normalise(ranges);
  return ranges;
}

}  // namespace

TokenSet::TokenSet(std::initializer_list<TokenRange> ranges) : TokenSet(std::vector<TokenRange>(ranges)) {}

TokenSet::TokenSet(std::vector<TokenRange> ranges) : TokenSet(normalised(ranges)) {}

TokenSet TokenSet::of_normalised(Ranges ranges) { return TokenSet(ranges); }

TokenSet::TokenSet(Ranges ranges) : ranges_(ranges.begin(), ranges.end()) {
  const bool many = ranges_.size() > kFewRanges;
  if (many) rows_before_.reserve(ranges_.size());
  for (const TokenRange& range : ranges_) {
    if (many) rows_before_.push_back(size_);
    size_ += range.size();
  }
}

void normalise(std::vector<TokenRange>& ranges) {
  if (ranges.size() == 1 && ranges.front().size() > 0) return;
  const auto by_begin = [](const TokenRange& a, const TokenRange& b) { return a.begin < b.begin; };
  if (!std::is_sorted(ranges.begin(), ranges.end(), by_begin)) std::sort(ranges.begin(), ranges.end(), by_begin);
  auto kept = ranges.begin();  // ranges before it are done
  for (const TokenRange& range : ranges) {
    if (range.begin >= range.end) continue;
    if (kept != ranges.begin() && range.begin <= std::prev(kept)->end)
      std::prev(kept)->end = std::max(range.end, std::prev(kept)->end);
    else
      *kept++ = range;
  }
  ranges.erase(kept, ranges.end());
}

bool TokenSet::contains(Token token) const {
  const auto range = range_reaching(ranges(), token);
  return range != ranges().end() && range->begin <= token;
}

bool TokenSet::contains(const TokenSet& other) const {
  return std::all_of(other.ranges_.begin(), other.ranges_.end(), [&](const TokenRange& wanted) {
    const auto range = range_reaching(ranges(), wanted.begin);
    return range != ranges().end() && range->begin <= wanted.begin && wanted.end <= range->end;
  });
}

bool TokenSet::intersects(const TokenSet& other) const {
  const TokenSet& few = ranges_.size() < other.ranges_.size() ? *this : other;
  const TokenSet& many = &few == this ? other : *this;
  return std::any_of(few.ranges_.begin(), few.ranges_.end(), [&](const TokenRange& r) {
    const auto range = range_reaching(many.ranges(), r.begin);
    return range != many.ranges().end() && range->begin < r.end;
  });
}

Token TokenSet::row_of(Token token) const {
  const auto range = range_reaching(ranges(), token);
  if (range == ranges().end()) return size_;
  Token before = 0;
  if (!rows_before_.empty())
    before = rows_before_[static_cast<std::size_t>(range - ranges().begin())];
  else
    for (auto earlier = ranges().begin(); earlier != range; ++earlier) before += earlier->size();
  return before + std::max<Token>(0, token - range->begin);
}

TokenSet intersection(const TokenSet& a, const TokenSet& b) {
  const TokenSet& few = a.ranges().size() < b.ranges().size() ? a : b;
  const TokenSet& many = &few == &a ? b : a;
  std::vector<TokenRange> common;
  auto other = many.ranges().begin();
  const bool search = few.ranges().size() * 16 < many.ranges().size();
  for (const TokenRange& range : few.ranges()) {
    if (search)
      other = range_reaching(many.ranges(), range.begin);
    else
      while (other != many.ranges().end() && other->end <= range.begin) ++other;
    for (auto it = other; it != many.ranges().end() && it->begin < range.end; ++it)
      common.push_back({std::max(range.begin, it->begin), std::min(range.end, it->end)});
  }
  return TokenSet(std::move(common));
}

TokenSet set_union(const TokenSet& a, const TokenSet& b) {
  std::vector<TokenRange> both;
  both.reserve(a.ranges().size() + b.ranges().size());
  std::merge(a.ranges().begin(), a.ranges().end(), b.ranges().begin(), b.ranges().end(), std::back_inserter(both),
             [](const TokenRange& x, const TokenRange& y) { return x.begin < y.begin; });
  return TokenSet(std::move(both));
}

TokenSet difference(const TokenSet& a, const TokenSet& b) {
  std::vector<TokenRange> rest;
  auto other = b.ranges().begin();
  for (const TokenRange& range : a.ranges()) {
    Token begin = range.begin;
    while (other != b.ranges().end() && other->end <= begin) ++other;
    for (auto it = other; it != b.ranges().end() && it->begin < range.end; ++it) {
      if (begin < it->begin) rest.push_back({begin, it->begin});
      begin = std::max(begin, it->end);
    }
    if (begin < range.end) rest.push_back({begin, range.end});
  }
  return TokenSet(std::move(rest));
}

std::vector<TokenRange> clip(const TokenSet& set, Token begin, Token end) {
  std::vector<TokenRange> inside;
  add_clipped(set, begin, end, inside);
  return inside;
}

void add_clipped(const TokenSet& set, Token begin, Token end, std::vector<TokenRange>& ranges) {
  for (auto it = range_reaching(set.ranges(), begin); it != set.ranges().end() && it->begin < end; ++it)
    ranges.push_back({std::max(begin, it->begin), std::min(end, it->end)});
}

}  // namespace hsap
