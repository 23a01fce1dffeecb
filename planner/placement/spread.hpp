// First distributions of pieces over empty bins; balance.hpp then evens out what they leave.
#pragma once

#include <vector>

#include "planner/placement/bin.hpp"
#include "planner/placement/row_cost.hpp"

namespace hsap {

/// By cost alone: documents of more than a bin's target are cut tail first into pieces of exactly the target, on consecutive
/// bins; what is left and the short documents go whole, largest first, where most room is. Cutting tail first moves the fewest
/// keys of all cuts of equal cost: the piece that ends last needs all keys, whatever its length.
void spread_by_cost(std::vector<Piece> pieces, const RowCost& rows, std::vector<Bin>& bins);

/// By cost and tokens, for when the token limits bind: see spread_under_cap.cpp.
void spread_under_cap(std::vector<Piece> pieces, const RowCost& rows, std::vector<Bin>& bins);

}  // namespace hsap
