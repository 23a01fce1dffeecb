// What a placement makes ranks do and nodes receive when rows are computed where their tokens lie: every rank receives the keys
// (with their values) that its rows see and that it does not hold. Under any mask rule.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/placement/placement.hpp"

namespace hsap {

struct RankTraffic {
  Token tokens = 0;
  std::int64_t pairs = 0;               ///< (query, key) pairs of its rows
  Token received = 0;                   ///< keys
  Token received_from_other_nodes = 0;  ///< those of them that no rank of its node holds
  Token sent = 0;                       ///< when every other rank fetches from the owner
};

struct Traffic {
  std::vector<RankTraffic> ranks;
  /// [node] keys that its ranks need and none of them holds: what enters it when each key enters once and is shared inside.
  std::vector<Token> into_nodes;
  int ranks_per_node = 1;  ///< the last node may have fewer

  Token received() const;       ///< of all ranks
  Token most_received() const;  ///< of a rank
  Token entered() const;        ///< of all nodes
  Token most_tokens() const;    ///< of a rank
  /// Largest cost of a rank over the mean, cost = pairs + pairs_per_token x tokens. 1 without any.
  double cost_over_mean(double pairs_per_token) const;
  double tokens_over_mean() const;
};

/// One rank for each set of the placement; `ranks_per_node` consecutive ranks share a node. O(n log n) for n pieces (ranges of
/// tokens) in the placement, times ranks_per_node for what comes from other nodes. Throws InvalidInput when ranks_per_node < 1.
Traffic measure_traffic(const DocumentMask& mask, const Placement& placement, int ranks_per_node);

}  // namespace hsap
