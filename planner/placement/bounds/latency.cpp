#include "planner/placement/bounds/latency.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace hsap {

namespace {

/// ceil() that does not take a rounding error for a rank.
double whole_ranks(double share) { return std::ceil(share * (1 - 1e-12)); }

}  // namespace

LatencyBound latency_bound(const std::vector<Token>& lengths, const RankCaps& caps, const MessageCosts& costs) {
  LatencyBound bound;
  if (lengths.empty()) return bound;
  const auto longest = static_cast<double>(*std::max_element(lengths.begin(), lengths.end()));
  const double ranks = std::max(whole_ranks(longest / caps.tokens), whole_ranks(caps.rows_cost(longest) / caps.cost));
  bound.ranks = static_cast<int>(std::max(1.0, std::min(ranks, longest)));  // a row lies on one rank
  if (bound.ranks == 1) return bound;
  bound.direct_messages = bound.ranks - 1;
  bound.relayed_rounds = static_cast<int>(std::bit_width(static_cast<unsigned>(bound.ranks - 1)));
  bound.direct_seconds = costs.link_seconds + bound.direct_messages * costs.seconds_per_message;
  bound.any_seconds = costs.link_seconds + costs.seconds_per_message;
  return bound;
}

}  // namespace hsap
