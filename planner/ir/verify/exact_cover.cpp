#include "planner/ir/verify/exact_cover.hpp"

#include <algorithm>
#include <utility>

namespace hsap::proof {

std::vector<CountRun> count_tokens(const std::vector<const TokenSet*>& sets) {
  std::vector<CountRun> runs;
  const auto append = [&](Token begin, Token end, std::int64_t count) {
    if (begin == end || count == 0) return;
    if (!runs.empty() && runs.back().end == begin && runs.back().count == count)
      runs.back().end = end;
    else
      runs.push_back({begin, end, count});
  };
  std::vector<std::pair<Token, int>> steps;  // token from which the count changes, by how much
  for (const TokenSet* set : sets)
    for (const TokenRange& range : set->ranges()) steps.push_back({range.begin, 1}), steps.push_back({range.end, -1});
  std::sort(steps.begin(), steps.end());
  std::int64_t count = 0;
  Token from = 0;
  for (const auto& [token, change] : steps) {
    append(from, token, count);
    from = token;
    count += change;
  }
  return runs;
}

std::optional<std::pair<Token, std::int64_t>> first_not_once(const std::vector<CountRun>& runs, Token begin, Token end) {
  auto run = std::upper_bound(runs.begin(), runs.end(), begin, [](Token t, const CountRun& r) { return t < r.end; });
  if (run == runs.end() || run->begin > begin) return std::pair{begin, std::int64_t{0}};
  if (run->count != 1) return std::pair{begin, run->count};
  if (run->end >= end) return std::nullopt;
  const Token next = run->end;  // the count changes here, so it is not 1
  ++run;
  return std::pair{next, run != runs.end() && run->begin == next ? run->count : 0};
}

ExactCover::ProfileId ExactCover::profile_of(std::vector<TokenSetId> terms) {
  std::sort(terms.begin(), terms.end());
  const auto [known, added] = profile_ids_.try_emplace(std::move(terms), static_cast<ProfileId>(profiles_.size()));
  if (added) {
    std::vector<const TokenSet*> sets;
    for (const TokenSetId id : known->first) sets.push_back(&sets_[id]);
    profiles_.push_back(count_tokens(sets));
  }
  return known->second;
}

const std::vector<ExactCover::Segment>& ExactCover::segments_of(ValueId value, HeadRange query_heads) {
  const std::uint32_t heads = code_of(query_heads);
  if (const auto known = questions_.find(value, heads)) return segments_[*known];
  const std::vector<Term> terms = values_.terms_of(value);
  std::vector<int> starts{query_heads.begin};  // heads at which the set of terms changes
  for (const Term& term : terms)
    for (const int head : {term.query_heads.begin, term.query_heads.end})
      if (query_heads.begin < head && head < query_heads.end) starts.push_back(head);
  std::sort(starts.begin(), starts.end());
  starts.erase(std::unique(starts.begin(), starts.end()), starts.end());

  std::vector<Segment> segments;
  for (const int head : starts) {
    std::vector<TokenSetId> tokens;
    for (const Term& term : terms)
      if (term.query_heads.begin <= head && head < term.query_heads.end) tokens.push_back(term.tokens);
    segments.push_back({head, profile_of(std::move(tokens))});
  }
  questions_.insert(value, heads, static_cast<std::uint32_t>(segments_.size()));
  segments_.push_back(std::move(segments));
  return segments_.back();
}

std::optional<Gap> ExactCover::find_gap(const std::vector<CountRun>& profile, TokenSetId rows, Direction direction) const {
  for (const TokenRange& range : sets_[rows].ranges())
    for (std::size_t d = mask_.document_of(range.begin); d < mask_.documents() && mask_.document(d).begin < range.end; ++d) {
      const auto [start, end] = mask_.document(d);
      const Token a = std::max(range.begin, start);
      const Token b = std::min(range.end, end);
      if (direction == Direction::keys_of_queries) {
        const Token seen_from = mask_.window() ? std::max(start, a - *mask_.window() + 1) : start;
        if (const auto found = first_not_once(profile, seen_from, b))
          return Gap{std::max(a, found->first), found->first, 0, found->second};
      } else {
        const Token seen_to = mask_.window() ? std::min(end, b - 1 + *mask_.window()) : end;
        if (const auto found = first_not_once(profile, a, seen_to))
          return Gap{std::min(b - 1, found->first), found->first, 0, found->second};
      }
    }
  return std::nullopt;
}

std::optional<Gap> ExactCover::find_gap(ValueId value, TokenSetId rows, HeadRange query_heads, Direction direction) {
  const std::uint32_t question = rows << 1 | (direction == Direction::keys_of_queries ? 0u : 1u);
  for (const Segment& segment : segments_of(value, query_heads)) {
    if (answered_.find(segment.profile, question)) continue;
    if (auto gap = find_gap(profiles_[segment.profile], rows, direction)) {
      gap->query_head = segment.first_head;
      return gap;
    }
    answered_.insert(segment.profile, question, 0);
  }
  return std::nullopt;
}

}  // namespace hsap::proof
