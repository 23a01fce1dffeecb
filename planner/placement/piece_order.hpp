// The order in which pieces are spread over bins. Documents are sorted once for a batch: the documents of a pod or node keep
// that order.
#pragma once

#include <vector>

#include "planner/placement/bin.hpp"
#include "planner/placement/row_cost.hpp"

namespace hsap {

/// Brings whole documents, which come in the order of the batch, into the order of costlier(). O(n digits of the longest).
void sort_costliest_first(std::vector<Piece>& documents);

/// What each bin holds, in the order of costlier(); pieces of one document that touch have become one. `pieces`: what the bins
/// were filled with, in that order. O(n) for whole documents.
std::vector<std::vector<Piece>> costliest_first(const std::vector<Piece>& pieces, const RowCost& rows,
                                                const std::vector<Bin>& bins);

}  // namespace hsap
