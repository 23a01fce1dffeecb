// The steps by which place_cost_cut (cost_cut.cpp) fills bins, in this order. Each sees only pieces and bins, so nodes and the
// groups of a node are filled alike. All are deterministic.
#pragma once

#include <vector>

#include "planner/placement/bin.hpp"
#include "planner/placement/row_cost.hpp"

namespace hsap {

/// First distribution over empty bins, by cost alone. A piece that costs more than (1 + tolerance) of a bin's target is cut
/// tail first into pieces of exactly the target, on consecutive bins; what is left, and what is short, goes whole to where most
/// room is, costliest first. Cutting tail first moves the fewest keys of all cuts into equal costs: whoever holds the last row
/// of a document needs all its keys, so the costly rows at the end belong on few bins (our derivation: keys moved = sum over
/// bins and documents of last row - rows held).
void spread(std::vector<Piece> pieces, const RowCost& rows, double tolerance, std::vector<Bin>& bins);

/// least <= tokens <= most in every bin.
bool token_limits_met(const std::vector<Bin>& bins);

/// Moves rows until least <= tokens <= most in every bin: the promise of the token cap. It moves the rows that cost least per
/// token, short documents and heads, into the bins with most room for tokens, which hold costly tails: heavy tails get light
/// fillers.
/// @pre sum of least <= sum of tokens <= sum of most.
void meet_token_limits(std::vector<Bin>& bins, const RowCost& rows);

/// Shifts the cuts inside every document that lies on several bins, tail first, so that each bin but the one with the head gets
/// what it has room for beside its fillers. No further bin touches the document. Token limits are observed except in the bin
/// with the head.
void recut_chains(std::vector<Bin>& bins, const RowCost& rows);

/// Moves work from bins above (1 + tolerance) target to those with most room: whole pieces, else the cut that makes the fewest
/// keys move. Where the receiver lacks room for the tokens it gives cheap rows back. Best effort on costs. @pre and @post least
/// <= tokens <= most.
void level_costs(std::vector<Bin>& bins, const RowCost& rows, double tolerance);

}  // namespace hsap
