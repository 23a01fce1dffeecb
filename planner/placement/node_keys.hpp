// Keys that enter nodes. They are spread over the groups of the node, and attention hides them only on groups that have enough
// of it: a group full of tokens has little, for the costs of groups are equal.
#pragma once

#include <vector>

#include "planner/placement/bin.hpp"
#include "planner/placement/cost_cut_steps.hpp"

namespace hsap {

/// Time in which each group of a node takes in its share of the keys that enter it, in pairs; 0 when nothing has to be hidden.
double pairs_of_taking_in(const Bin& node, const DocumentMask& mask, const KeyPrice& keys);

/// Fills empty nodes, so that few keys move; where those that enter some node take longer than its attention, tries placements
/// with more even tokens, and keeps the one whose slowest node is the fastest. @pre documents are in the order of costlier().
void fill_nodes(const std::vector<Piece>& documents, const DocumentMask& mask, const RowCost& rows, double tolerance,
                const KeyPrice& keys, std::vector<Bin>& nodes);

}  // namespace hsap
