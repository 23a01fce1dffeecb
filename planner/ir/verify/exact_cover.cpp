#include "planner/ir/verify/exact_cover.hpp"

#include <algorithm>
#include <utility>

namespace hsap::proof {

ExactCover::ProfileId ExactCover::profile_of(std::vector<TokenSetId> terms) {
  std::sort(terms.begin(), terms.end());
  const auto [known, added] = profile_ids_.try_emplace(std::move(terms), static_cast<ProfileId>(profiles_.size()));
  if (added) {
    const std::vector<TokenSetId>& sorted = known->first;
    Profile& profile = profiles_.emplace_back();
    const auto zeros = std::lower_bound(sorted.begin(), sorted.end(), kZeroOfRank);
    profile.runs = counts_.count({sorted.begin(), zeros});
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end()) profile.twice = *twice;
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

std::optional<Gap> ExactCover::gap_between(const Profile& profile, TokenRange rows, TokenRange others) {
  if (rows.size() == 0 || others.size() == 0) return std::nullopt;
  const auto found = first_not_once(profile.runs, others.begin, others.end);
  if (!found) return std::nullopt;
  return Gap{std::clamp(found->first, rows.begin, rows.end - 1), found->first, 0, found->second, {}};
}

std::optional<Gap> ExactCover::find_gap(const Profile& profile, TokenSetId rows, Direction direction) const {
  for (const TokenRange& range : sets_[rows].ranges())
    for (std::size_t d = mask_.document_of(range.begin); d < mask_.documents() && mask_.document(d).begin < range.end; ++d) {
      const auto [start, end] = mask_.document(d);
      const TokenRange part{std::max(range.begin, start), std::min(range.end, end)};
      if (direction == Direction::keys_of_queries) {
        const VisibleKeys keys = mask_.keys_seen_by(d, part);
        for (const TokenRange& seen : {keys.sinks, keys.main})
          if (const auto gap = gap_between(profile, part, seen)) return gap;
      } else {
        const Token sinks_end = std::clamp(start + mask_.rule().sinks, part.begin, part.end);
        const SeeingQueries queries = mask_.queries_seeing(d, part);
        if (const auto gap = gap_between(profile, {part.begin, sinks_end}, queries.of_sinks)) return gap;
        if (const auto gap = gap_between(profile, {sinks_end, part.end}, queries.of_others)) return gap;
      }
    }
  if (profile.twice) return Gap{0, 0, 0, 0, profile.twice};
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
