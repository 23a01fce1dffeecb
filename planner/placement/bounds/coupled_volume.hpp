// The row-atomic bound when both caps bind together over many documents: ranks that are full of cheap rows have no room left
// for their share of the work, so costly rows must be spread over more ranks than either cap alone would ask. Causal masks.
//
// Why. For a position x, let G of the P ranks hold only rows below x, of whatever documents. The other P - G ranks do at most
// (P
// - G) caps.cost, so these G must do at least W - (P - G) caps.cost of all work W; but they hold at most G caps.tokens rows, so
// they do at most H(G, x) = the cost of the G caps.tokens costliest rows below x. The largest G for which the second is not
// below the first is G*(x); at least N(x) = P - G*(x) ranks hold a row from x on. Both N(x) and the sum of n_d(x) (row_atomic_
// volume.hpp) bound how many (document, rank) pairs reach beyond x, so volume >= integral of max(sum n_d(x), N(x)) - T. (Our
// derivation.) G may be any real number here: the bound gives away less than a rank at each x.
#pragma once

#include <vector>

#include "planner/placement/bounds/rank_caps.hpp"

namespace hsap {

/// Steps of the sum by which the integral is bounded, equal ones and geometric ones each.
inline constexpr int kCoupledSteps = 600;

/// Keys received in all, never below row_atomic_volume(). Both integrands fall with x; the integral is a lower sum over `steps`
/// equal and `steps` geometric steps up to the longest document: more steps, a larger bound (the steps of planbench/bounds.py).
/// O(n log n + ranks log ranks + steps log n) for n documents. @pre caps are those of `ranks` ranks (rank_caps()), so that P
/// caps.cost >= W; steps >= 2
double coupled_volume(const std::vector<Token>& lengths, int ranks, const RankCaps& caps, int steps = kCoupledSteps);

}  // namespace hsap
