#include "planner/placement/measures/traffic.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "planner/ir/errors.hpp"

namespace hsap {

namespace {

Token members_outside(const TokenSet& set, const TokenSet& other) { return difference(set, other).size(); }

TokenSet union_of(const std::vector<TokenSet>& sets, std::size_t begin, std::size_t end) {
  std::vector<TokenRange> ranges;
  for (std::size_t i = begin; i < end; ++i) ranges.insert(ranges.end(), sets[i].ranges().begin(), sets[i].ranges().end());
  return TokenSet(std::move(ranges));
}

/// How many of some sets hold each token, summed over the tokens before a position: linear between the places where it changes.
class Demand {
 public:
  explicit Demand(const std::vector<TokenSet>& sets) {
    struct Change {
      Token at;
      Token by;
    };
    std::vector<Change> changes;
    for (const TokenSet& set : sets)
      for (const TokenRange& range : set.ranges()) {
        changes.push_back({range.begin, 1});
        changes.push_back({range.end, -1});
      }
    std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) { return a.at < b.at; });
    Place place;
    for (const Change& change : changes) {
      if (change.at > place.at || places_.empty()) {
        place.before += place.holders * (change.at - place.at);
        place.at = change.at;
        places_.push_back(place);
      }
      places_.back().holders = place.holders += change.by;
    }
  }
  Token in(const TokenRange& range) const { return before(range.end) - before(range.begin); }

 private:
  struct Place {
    Token at = 0;
    Token holders = 0;  // from here to the next place
    Token before = 0;   // summed over the tokens before this one
  };
  Token before(Token position) const {
    const auto next = std::partition_point(places_.begin(), places_.end(), [&](const Place& p) { return p.at <= position; });
    if (next == places_.begin()) return 0;
    const Place& place = *std::prev(next);
    return place.before + place.holders * (position - place.at);
  }
  std::vector<Place> places_;  // ascending
};

template <typename Value>
Token most_of(const std::vector<RankTraffic>& ranks, Value value) {
  Token most = 0;
  for (const RankTraffic& rank : ranks) most = std::max(most, value(rank));
  return most;
}

}  // namespace

Token Traffic::received() const {
  return std::accumulate(ranks.begin(), ranks.end(), Token{0},
                         [](Token sum, const RankTraffic& rank) { return sum + rank.received; });
}

Token Traffic::most_received() const {
  return most_of(ranks, [](const RankTraffic& rank) { return rank.received; });
}

Token Traffic::entered() const { return std::accumulate(into_nodes.begin(), into_nodes.end(), Token{0}); }

Token Traffic::most_tokens() const {
  return most_of(ranks, [](const RankTraffic& rank) { return rank.tokens; });
}

double Traffic::cost_over_mean(double pairs_per_token) const {
  double most = 0;
  double sum = 0;
  for (const RankTraffic& rank : ranks) {
    const double cost = static_cast<double>(rank.pairs) + pairs_per_token * static_cast<double>(rank.tokens);
    most = std::max(most, cost);
    sum += cost;
  }
  return sum > 0 ? most * static_cast<double>(ranks.size()) / sum : 1;
}

double Traffic::tokens_over_mean() const {
  Token sum = 0;
  for (const RankTraffic& rank : ranks) sum += rank.tokens;
  return sum > 0 ? static_cast<double>(most_tokens()) * static_cast<double>(ranks.size()) / static_cast<double>(sum) : 1;
}

Traffic measure_traffic(const DocumentMask& mask, const Placement& placement, int ranks_per_node) {
  if (ranks_per_node < 1)
    throw InvalidInput("traffic of a placement: ranks_per_node is " + std::to_string(ranks_per_node) + ", expected at least 1");
  const TokenSet all{{0, mask.tokens()}};
  std::vector<TokenSet> seen;
  seen.reserve(placement.size());
  for (const TokenSet& held : placement) seen.push_back(mask.keys_seen_by(held));
  const Demand demand(seen);

  Traffic traffic;
  traffic.ranks_per_node = ranks_per_node;
  const auto per_node = static_cast<std::size_t>(ranks_per_node);
  for (std::size_t first = 0; first < placement.size(); first += per_node) {
    const std::size_t end = std::min(first + per_node, placement.size());
    const TokenSet in_node = union_of(placement, first, end);
    traffic.into_nodes.push_back(members_outside(union_of(seen, first, end), in_node));
    for (std::size_t i = first; i < end; ++i) {
      RankTraffic rank;
      rank.tokens = placement[i].size();
      rank.pairs = mask.pairs(placement[i], all);
      rank.received = members_outside(seen[i], placement[i]);
      rank.received_from_other_nodes = members_outside(seen[i], in_node);
      for (const TokenRange& range : placement[i].ranges()) rank.sent += demand.in(range);
      rank.sent -= rank.tokens;  // itself, which sees all that it holds: every query sees its own key
      traffic.ranks.push_back(rank);
    }
  }
  return traffic;
}

}  // namespace hsap
