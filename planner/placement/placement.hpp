// Who holds which tokens: the laws by which documents are put on sequence groups. A group is what shares one token set
// (U ranks of an island with head parallelism, or one rank). A placement is one TokenSet per group; together they hold every token once.
#pragma once

#include <vector>

#include "planner/ir/document_mask.hpp"

namespace hsap {

using Placement = std::vector<TokenSet>;  ///< [group] tokens held

/// Equal contiguous shards: group i holds [i T / n, (i+1) T / n). Balanced in tokens to one; blind to documents.
Placement place_contiguous(const DocumentMask& mask, int groups);

/// Every document cut into 2n chunks, group i holding chunks i and 2n-1-i; the remainder tokens are dealt round robin over the
/// chunks, going on from document to document (WLB-LLM's rule), so no padding and at most one token of difference per ... chunk.
Placement place_zigzag(const DocumentMask& mask, int groups);

struct CostCutOptions {
  /// Most tokens of a group = ceil(token_cap * T / groups). >= 1.
  double token_cap = 1.25;
  /// Cost of a token in (query, key) pairs, beside the pairs of its row: linear work and copies.
  double pairs_per_token = 0;
  /// Consecutive groups that share a node; documents are put on nodes first, then on the groups of a node.
  int groups_per_node = 1;
};

/// Sequence-aware placement: cost (pairs + pairs_per_token x tokens) balanced under the token cap, short documents whole, long ones
/// cut tail first into pieces of equal cost on consecutive groups. Our own design (../README.md, "HSAP here").
/// The cap holds in every result. O(n log n + groups log groups). Throws InvalidInput when token_cap < 1.
Placement place_cost_cut(const DocumentMask& mask, int groups, const CostCutOptions& options = {});

}  // namespace hsap
