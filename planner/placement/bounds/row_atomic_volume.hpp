// Fewest keys (with their values) that must be received, over all plans of whole rows: those in which a token's attention is
// computed where the token lies, and keys and values come to it. Causal masks on documents.
//
// Why. A rank whose last row of a document is e - 1 and that holds s of its tokens needs keys 0 .. e-1 and so receives e - s of
// them; in all, the sum of e over (document, rank) less T. For a position x, the rows [x, L) lie only on ranks with e > x, and
// there are at least n(x) = max(ceil((L - x) / tokens), ceil(cost(x, L) / cost)) of these, because that is what ranks may hold.
// The sum of e is the integral of their number over x, hence volume >= integral of n(x) - L. n(x) falls below k at
//
//   x_k = max(L - (k - 1) tokens, the x at which rows [x, L) cost (k - 1) caps.cost), 0 at least
//
// so the integral less L is x_2 + x_3 + ... Cutting from the tail into pieces as large as the caps allow receives exactly that:
// the bound is tight for one document. (Our derivation.)
#pragma once

#include <vector>

#include "planner/placement/bounds/rank_caps.hpp"

namespace hsap {

/// Keys of one document. A square root for each cut that cost enforces, a closed form for those of the token cap.
double row_atomic_volume(double length, const RankCaps& caps);
/// Keys of all documents together; documents that one rank may hold whole add nothing.
double row_atomic_volume(const std::vector<Token>& lengths, const RankCaps& caps);

/// The positive x_k of all documents, k >= 2, descending. As many as the fewest cuts: with caps at or above the mean at most
/// two per rank.
std::vector<double> cut_positions(const std::vector<Token>& lengths, const RankCaps& caps);

/// Keys that the rank with the last row of the longest document receives at least: it holds no more than its cap of them.
double most_received_by_a_rank(const std::vector<Token>& lengths, const RankCaps& caps);

}  // namespace hsap
