// Moves between filled bins: first so that the token limits hold, which is a promise, then so that costs are level, which is a wish.
#pragma once

#include <vector>

#include "planner/placement/bin.hpp"
#include "planner/placement/row_cost.hpp"

namespace hsap {

/// Moves the rows that cost least per token, whole pieces where possible, until least <= tokens <= most in every bin.
/// @pre sum of least <= sum of tokens <= sum of most. @post the limits hold. At most two partial moves per bin.
void meet_token_limits(std::vector<Bin>& bins, const RowCost& rows);

/// Moves work from bins above (1 + tolerance) target to those with most room below their target: whole pieces, else the cut that
/// makes the fewest keys move. Where the receiver has no room for the tokens it gives cheap rows back. Best effort on costs.
/// @pre and @post least <= tokens <= most.
void recut_chains(std::vector<Bin>& bins, const RowCost& rows);

void level_costs(std::vector<Bin>& bins, const RowCost& rows, double tolerance);

}  // namespace hsap
