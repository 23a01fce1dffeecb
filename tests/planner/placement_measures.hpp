// What a placement is worth: how even costs and tokens are, how many keys must be moved, and the least that any plan must move.
#pragma once

#include <algorithm>
#include <vector>

#include "planner/placement/bounds/row_atomic_volume.hpp"
#include "planner/placement/placement.hpp"

namespace hsap::test {

struct PlacementMeasures {
  double cost_max_over_mean = 1;
  double tokens_max_over_mean = 1;
  double max_cost = 0;
  Token max_tokens = 0;
  Token keys_moved = 0;  ///< sum over groups of the keys that its rows see and that it does not hold
};

/// Cost as place_cost_cut understands it: pairs + pairs_per_token x tokens.
inline PlacementMeasures measure(const DocumentMask& mask, const Placement& placement, double pairs_per_token) {
  PlacementMeasures measures;
  const TokenSet all{{0, mask.tokens()}};
  double total = 0;
  for (const TokenSet& tokens : placement) {
    const double cost = static_cast<double>(mask.pairs(tokens, all)) + pairs_per_token * static_cast<double>(tokens.size());
    total += cost;
    measures.max_cost = std::max(measures.max_cost, cost);
    measures.max_tokens = std::max(measures.max_tokens, tokens.size());
    measures.keys_moved += difference(mask.keys_seen_by(tokens), tokens).size();
  }
  const auto groups = static_cast<double>(placement.size());
  measures.cost_max_over_mean = measures.max_cost * groups / total;
  measures.tokens_max_over_mean = static_cast<double>(measures.max_tokens) * groups / static_cast<double>(mask.tokens());
  return measures;
}

/// Fewest keys that any plan moves in which rows are computed where their token lies, no group holds more than `most_tokens` or
/// costs more than `most_cost`. Causal masks.
inline double fewest_keys_moved(const DocumentMask& mask, double most_tokens, double most_cost, double pairs_per_token) {
  return row_atomic_volume(lengths_of(mask), {.tokens = most_tokens, .cost = most_cost, .pairs_per_token = pairs_per_token});
}

/// Every token of the mask is held once.
inline bool is_partition(const DocumentMask& mask, const Placement& placement) {
  Token held = 0;
  std::vector<TokenRange> ranges;
  for (const TokenSet& tokens : placement) {
    held += tokens.size();
    ranges.insert(ranges.end(), tokens.ranges().begin(), tokens.ranges().end());
  }
  return held == mask.tokens() && TokenSet(std::move(ranges)) == TokenSet{{0, mask.tokens()}};
}

}  // namespace hsap::test
