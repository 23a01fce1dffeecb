#include "planner/ir/verify/token_counts.hpp"

#include <algorithm>

namespace hsap::proof {

std::optional<std::pair<Token, std::int64_t>> first_not_once(const std::vector<CountRun>& runs, Token begin, Token end) {
  auto run = std::upper_bound(runs.begin(), runs.end(), begin, [](Token t, const CountRun& r) { return t < r.end; });
  if (run == runs.end() || run->begin > begin) return std::pair{begin, std::int64_t{0}};
  if (run->count != 1) return std::pair{begin, run->count};
  if (run->end >= end) return std::nullopt;
  const Token next = run->end;  // the count changes here, so it is not 1
  ++run;
  return std::pair{next, run != runs.end() && run->begin == next ? run->count : 0};
}

TokenCounts::TokenCounts(const TokenAlgebra& sets) : sets_(sets) {
  for (TokenSetId id = 0; id < sets.size(); ++id)
    for (const TokenRange& range : sets[id].ranges()) boundaries_.push_back(range.begin), boundaries_.push_back(range.end);
  std::sort(boundaries_.begin(), boundaries_.end());
  boundaries_.erase(std::unique(boundaries_.begin(), boundaries_.end()), boundaries_.end());
  change_.assign(boundaries_.size(), 0);
}

const std::vector<TokenCounts::Span>& TokenCounts::spans_of(TokenSetId id) {
  if (id >= spans_.size()) spans_.resize(id + 1);
  std::vector<Span>& spans = spans_[id];
  if (spans.empty()) {
    spans.reserve(sets_[id].ranges().size());
    auto at = boundaries_.begin();
    for (const TokenRange& range : sets_[id].ranges()) {
      const auto begin = std::lower_bound(at, boundaries_.end(), range.begin);
      at = std::lower_bound(begin, boundaries_.end(), range.end);
      spans.push_back(
          {static_cast<std::uint32_t>(begin - boundaries_.begin()), static_cast<std::uint32_t>(at - boundaries_.begin())});
    }
  }
  return spans;
}

std::vector<CountRun> TokenCounts::count(const std::vector<TokenSetId>& sets) {
  std::size_t first = boundaries_.size();
  std::size_t last = 0;
  for (const TokenSetId id : sets) {
    const std::vector<Span>& spans = spans_of(id);
    if (spans.empty()) continue;
    first = std::min<std::size_t>(first, spans.front().begin);
    last = std::max<std::size_t>(last, spans.back().end);
    for (const Span& span : spans) ++change_[span.begin], --change_[span.end];
  }
  std::vector<CountRun> runs;
  std::int64_t count = 0;
  for (std::size_t i = first; i <= last && i < boundaries_.size(); ++i) {
    if (change_[i] == 0) continue;
    if (count != 0) runs.back().end = boundaries_[i];
    count += change_[i];
    change_[i] = 0;
    if (count != 0) runs.push_back({boundaries_[i], boundaries_[i], count});
  }
  return runs;
}

}  // namespace hsap::proof
