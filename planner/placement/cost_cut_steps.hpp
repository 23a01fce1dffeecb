// The steps by which place_cost_cut (cost_cut.cpp) fills bins. Each sees only pieces and bins, so nodes and the groups of a
// node are filled alike. All are deterministic.
#pragma once

#include <vector>

#include "planner/placement/bin.hpp"
#include "planner/placement/row_cost.hpp"

namespace hsap {

/// What a token and a key that enters a bin from outside cost, both in pairs. Linear work and the keys must fit into the bin's
/// target together: attention can hide no more than its own time. 0 for keys: they cost nothing.
struct KeyPrice {
  double pairs_per_token = 0;
  double pairs_per_key = 0;
};

/// What brings a bin to its tokens where no document fits whole beside its tail.
enum class Fillers {
  whole,  ///< the head of the tail's document, however much its rows cost
  cut     ///< that head while it is light, then the head of the lightest other document
};

/// All steps: spread(), or spread_under_caps() where that breaks the token caps, then settle_bins(). Where whole fillers are
/// heavy, cut ones are tried, too, and the bins that fewer keys enter are kept: which kind wins depends on what is left for the
/// last bins, where levelling makes most of its cuts. Returns whether token caps bind. @pre pieces are in the order of
/// costlier().
bool fill_bins(const std::vector<Piece>& pieces, const RowCost& rows, double tolerance, std::vector<Bin>& bins);
/// Token limits and costs of bins that have been spread over: meet_token_limits(), recut_chains(), level_costs().
void settle_bins(const RowCost& rows, double tolerance, std::vector<Bin>& bins);

/// First distribution over empty bins, by cost alone. A piece that costs more than (1 + tolerance) of a bin's target is cut
/// tail first into pieces of exactly the target, on consecutive bins; what is left, and what is short, goes whole to where most
/// room is, costliest first. Cutting tail first moves the fewest keys of all cuts into equal costs: whoever holds the last row
/// of a document needs all its keys, so the costly rows at the end belong on few bins (our derivation: keys moved = sum over
/// bins and documents of last row - rows held). False as soon as a bin has more tokens than its cap: the rest is then not
/// placed. @pre pieces are in the order of costlier().
bool spread(const std::vector<Piece>& pieces, const RowCost& rows, double tolerance, std::vector<Bin>& bins);

/// First distribution over empty bins where token caps bind: bins that are full of tokens before they have their cost. Such a
/// bin of t tokens, filled up with rows that cost q each, has room for a tail of long documents worth target - q t beside what
/// its tokens cost at q. So a document is cut into more pieces the more tokens bins have and the more their fillers cost, and
/// each further piece moves as many keys as it reaches far. Hence bins are filled one after another around what reaches
/// farthest:
///   - with as few tokens as leave room for all others in the rest of the bins (a pure tail while that works), or, where `keys`
///     says so, with no fewer than leave time for the keys that enter;
///   - the lightest documents whole as fillers, which move nothing;
///   - the head of the same document, which moves nothing beside its tail, where it is as light, and for the last tokens: head
///     and tail are then cut where both the cost and the tokens of the bin are met; with Fillers::cut another document's head
///     takes the place of heavy rows, which moves few keys, for it is short.
/// It is the order in which the bound of coupled_volume.hpp is attained: rows that reach far together with the lightest ones. A
/// single document gives the zigzag. Documents that fit whole beside ordinary fillers are spread over the other bins, dense
/// ones by what they cost beyond ordinary fillers, then light ones by tokens.
/// Token caps are nearly met, costs where documents allow it. O(n log n + bins log n) for n pieces. Returns whether a bin got
/// heavy rows of its tail's document as fillers; only Fillers::whole allows them.
/// @pre pieces are in the order of costlier().
bool spread_under_caps(const std::vector<Piece>& pieces, const RowCost& rows, double tolerance, const KeyPrice& keys,
                       Fillers fillers, std::vector<Bin>& bins);

/// least <= tokens <= most in every bin.
bool token_limits_met(const std::vector<Bin>& bins);

/// Moves rows until least <= tokens <= most in every bin: the promise of the token cap. It moves the rows that cost least per
/// token, short documents and heads, into bins that have room for their tokens and their cost, then into those with most room
/// for tokens, which hold costly tails.
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
