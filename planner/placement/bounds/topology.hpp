// Bounds by links: what must enter a node, or any other group of neighbouring ranks, and a rank, over the speed at which it
// can. Plans of whole rows (row_atomic_volume.hpp), causal masks.
//
// Why. However perfectly keys are shared out inside, what a node's ranks do not hold together must enter it, once at least: the
// row-atomic bound with nodes for ranks. Communication hides behind attention only, never behind the linear work of tokens, so
// a rank is busy for its tokens and, beside that, at least for what it receives; the mean over ranks bounds the slowest. And
// the rank, or node, with the last row of the longest document receives all of it that it cannot hold. (Our derivation.)
#pragma once

#include <vector>

#include "planner/placement/bounds/rank_caps.hpp"
#include "planner/placement/layer_costs.hpp"

namespace hsap {

/// Keys that enter groups of `ranks_per_group` consecutive ranks in all, with perfect sharing inside: nodes; for another level
/// (pods, rails) give its groups. 0 when one group holds all ranks. `caps` are those of a rank; the last group may have fewer.
double volume_into_groups(const std::vector<Token>& lengths, int ranks, int ranks_per_group, const RankCaps& caps);

/// Seconds of a layer that links ask at least.
struct LinkBounds {
  double into_ranks = 0;                  ///< mean linear work, then all that ranks receive, at their speed
  double into_nodes = 0;                  ///< the same for what enters nodes
  double longest_document_into_rank = 0;  ///< what the rank with its last row receives of the longest document
  double longest_document_into_node = 0;  ///< the same for its node
};
LinkBounds link_bounds(const std::vector<Token>& lengths, int ranks, int ranks_per_node, const RankCaps& caps,
                       const LayerCosts& layer);

}  // namespace hsap
