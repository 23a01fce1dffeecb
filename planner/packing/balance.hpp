// Items into bins so that the costliest bin costs little: documents into replicas by cost, and those of a replica into
// micro-batches by cost under a cap on tokens.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "planner/ir/ids.hpp"

namespace hsap {

struct BinItem {
  double cost = 0;
  Token tokens = 0;
};

/// Items of each bin, ascending; together each item once.
using Bins = std::vector<std::vector<std::size_t>>;

/// Costliest first, each into the bin that costs least among those with room (LPT: R. L. Graham, "Bounds on multiprocessing
/// timing anomalies", 1969: at most 4/3 of the best without a cap); where that leaves an item without room, largest first, each
/// into the first bin with room (first-fit decreasing). Then items move, or change places with others, from the costliest bin
/// to one that costs less, as long as that helps. No bin holds more than `most_tokens`. Deterministic. nullopt: no way was
/// found; more bins are needed. O(n log n) without a cap, O(n bins) at worst. Throws InvalidInput when bins is 0.
std::optional<Bins> balance(const std::vector<BinItem>& items, std::size_t bins, Token most_tokens);

}  // namespace hsap
