// Parts of a range of rows inside and outside other ranges, without making a TokenSet of them.
#pragma once

#include <algorithm>
#include <vector>

#include "planner/ir/token_set.hpp"

namespace hsap {

/// Calls visit(range) for the parts of `rows` inside the ranges.
template <class Visit>
void for_each_common(TokenRange rows, Ranges ranges, const Visit& visit) {
  for (const TokenRange& range : ranges) {
    if (range.begin >= rows.end) return;
    if (range.end > rows.begin) visit(TokenRange{std::max(rows.begin, range.begin), std::min(rows.end, range.end)});
  }
}

/// The same of rows that ascend as well. O(rows + ranges).
template <class Visit>
void for_each_common(Ranges rows, Ranges ranges, const Visit& visit) {
  auto first = ranges.begin();
  for (const TokenRange& range : rows) {
    while (first != ranges.end() && first->end <= range.begin) ++first;
    for_each_common(range, Ranges(first, ranges.end()), visit);
  }
}

/// Calls visit(range) for the parts of `rows` outside the ranges.
template <class Visit>
void for_each_gap(TokenRange rows, Ranges ranges, const Visit& visit) {
  Token begin = rows.begin;
  for_each_common(rows, ranges, [&](const TokenRange& common) {
    if (begin < common.begin) visit(TokenRange{begin, common.begin});
    begin = common.end;
  });
  if (begin < rows.end) visit(TokenRange{begin, rows.end});
}

/// Whether the rows from the first to the last of some ranges meet those of others: if not, they have none in common. O(1).
inline bool reach(Ranges ranges, Ranges others) {
  return !ranges.empty() && !others.empty() && ranges.front().begin < others.back().end &&
         others.front().begin < ranges.back().end;
}

inline bool intersects(TokenRange rows, Ranges ranges) {
  for (const TokenRange& range : ranges)
    if (range.end > rows.begin) return range.begin < rows.end;
  return false;
}

/// Adds a range that begins where those before it end, or later.
inline void append(std::vector<TokenRange>& ranges, const TokenRange& range) {
  if (!ranges.empty() && ranges.back().end == range.begin)
    ranges.back().end = range.end;
  else
    ranges.push_back(range);
}

}  // namespace hsap
