// Least volume of any plan, in keys' worth (bytes of one token's keys and values): tiles of (queries, keys, a group of heads
// that share a kv head) may be computed anywhere, queries moved to keys and outputs back. Causal masks on documents.
//
// Why. Of one kv head's tiles a rank that holds s <= c tokens of a document and receives i query rows and j keys can compute at
// most the s (s + 1) / 2 pairs among its own tokens and E = s (i + j) + i j <= c (i + j) + i j others. A query row costs g
// keys' worth, its query in and its output back, g = query heads over kv heads, so it receives v = g i + j. The best E(v) is
// convex until i and j have reached the document's length L, so work is cheapest per volume where it is most concentrated: a
// rank does at most X pairs over all H kv heads, all of which may be of one head, Y = min(H X, L (L + 1) / 2); the v at which
// E(v) = Y is then v / Y per pair, and no pair beyond the own ones is cheaper. Own pairs are at most L (c + 1) / 2 (L / c ranks
// with c (c + 1) / 2), so volume >= v / Y (L (L + 1) / 2 - L (c + 1) / 2) per document. (Our derivation.)
#pragma once

#include <vector>

#include "planner/placement/bounds/rank_caps.hpp"

namespace hsap {

/// How attention may be taken apart by heads.
struct HeadGroups {
  double queries_per_kv_head = 1;  ///< g >= 1
  int kv_heads = 1;                ///< H >= 1
};

/// Keys' worth received in all. Nothing for documents within the token cap, which may lie on one rank.
double any_plan_volume(const std::vector<Token>& lengths, const RankCaps& caps, const HeadGroups& heads);

}  // namespace hsap
