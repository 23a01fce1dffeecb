// Who holds which tokens: the laws by which documents are put on sequence groups. A group is what shares one token set
// (U ranks of an island with head parallelism, or one rank). A placement is one TokenSet per group; together they hold every
// token once.
#pragma once

#include <vector>

#include "planner/ir/document_mask.hpp"

namespace hsap {

using Placement = std::vector<TokenSet>;  ///< [group] tokens held

/// Equal contiguous shards: group i holds [i T / n, (i+1) T / n). Balanced in tokens to one; blind to documents.
/// Throws InvalidInput when groups < 1.
Placement place_contiguous(const DocumentMask& mask, int groups);

/// Every document cut into 2n chunks of l / 2n tokens, group i holding chunks i and 2n-1-i, so that all groups get the same
/// pairs of every document within rounding. The l mod 2n remainder tokens are dealt round robin over the chunks, one each,
/// going on from document to document (WLB-LLM's rule): no padding, and every group holds floor or ceiling of T / n tokens.
/// Throws InvalidInput when groups < 1.
Placement place_zigzag(const DocumentMask& mask, int groups);
/// The same of some of the documents.
Placement place_zigzag(const std::vector<TokenRange>& documents, int groups);

/// Token t of the pack in group t mod n. O(tokens): each token is a range of its own (one range when there is one group).
/// Throws InvalidInput when groups < 1.
Placement place_stripes(const DocumentMask& mask, int groups);

/// The pack cut into chunks of `chunk` tokens (the last one may be shorter), wherever documents begin; chunks are dealt by
/// their pairs, costliest first, each to the group with the fewest pairs so far that has room for one more, so that the numbers
/// of chunks differ by at most one (MagiAttention's dispatch, which asks that they be equal). O(n log n + documents) for n
/// chunks. Throws InvalidInput when groups or chunk < 1.
Placement place_chunks_by_pairs(const DocumentMask& mask, int groups, Token chunk);

/// Tokens of a chunk or block when nothing else is said (our choice): the largest power of two up to 2048, MagiAttention's
/// chunk in its benchmarks, of which every group gets at least 8; but `least` where every group gets at least one of those.
Token chunk_for(const DocumentMask& mask, int groups, Token least = 1);

struct BlockOptions {
  Token block = 0;          ///< tokens of a block, counted from the start of its document; >= 1
  int groups_per_node = 1;  ///< consecutive groups that share a node
  /// Pairs of a node are at most (1 + this) times the mean: DCP's epsilon between machines. Nodes of one group are groups.
  double node_tolerance = 0.4;
  /// Pairs of a group, against the mean of its node: DCP's epsilon inside a machine.
  double group_tolerance = 0.1;
  /// Tokens of a group are at most (1 + this) times the mean, rounded up to whole blocks.
  double token_tolerance = 0.2;
};

/// Blocks of documents put on nodes and then on the groups of each node so that few keys move while pairs are balanced within a
/// tolerance: what DCP asks of a hypergraph partitioner, by a greedy of our own. Documents, costliest first, stay whole where a
/// group has room; others are cut, tail first, into pieces that fill groups to the mean; then blocks at the cuts change sides
/// where fewer keys move and the tolerance allows it. Tolerances give way where blocks are too large for them.
/// O(blocks log blocks + blocks groups_per_node) as long as a document lies on few groups. Throws InvalidInput when groups,
/// groups_per_node or block < 1 or a tolerance is negative.
Placement place_blocks(const DocumentMask& mask, int groups, const BlockOptions& options);

/// Sizes of nodes of `groups_per_node` groups each; the last one may have fewer. Throws InvalidInput when groups_per_node < 1.
std::vector<int> equal_nodes(int groups, int groups_per_node);

struct CostCutOptions {
  /// No group holds more than token_cap * T / groups tokens. At least smallest_token_cap() (bounds/memory.hpp), since tokens
  /// are whole; with that one every group holds floor or ceiling of T / groups.
  double token_cap = 1.25;
  /// Share of its target by which a group may cost more before a document is cut for it. Small values cut more documents for
  /// less imbalance; larger ones pay where batches are so short that messages and short kernels cost more than imbalance. >= 0.
  double tolerance = 0.0005;
  /// Cost of a token in (query, key) pairs, beside the pairs of its row: linear work and copies.
  double pairs_per_token = 0;
  /// Time in which a group takes in a key from another node, in pairs. Keys that enter a node are spread over its groups, and
  /// attention can hide them only on groups that have enough of it: in a node that takes in many, tokens are kept more even.
  double pairs_per_entering_key = 0;
  /// How many consecutive groups each node has: documents are put on nodes first, then on the groups of a node. Empty: every
  /// group is a node.
  std::vector<int> groups_of_node = {};
  /// How many consecutive groups each pod has, whole nodes: documents are put on pods before they are put on nodes, so that few
  /// keys cross the spine. Empty: one pod.
  std::vector<int> groups_of_pod = {};
  /// Work that each group does in the same time, relative to the others: costs are balanced in proportion, the token cap is the
  /// same for all. Empty: all equal.
  std::vector<double> speeds = {};
};

/// Sequence-aware placement: cost (pairs + pairs_per_token x tokens) balanced under the token cap, short documents whole, long
/// ones cut tail first into pieces of equal cost on consecutive groups. Where the cap binds, groups with costly tails also take
/// cheap rows: short documents, and heads of long ones (spread_under_caps() in cost_cut_steps.hpp). Groups may stay empty when
/// there are fewer tokens than groups. Our own design. The cap holds in every result; costs are balanced as well as whole rows
/// allow (tests/bench/README.md has how well). O(n log n + groups log groups) for n documents. Throws InvalidInput when groups
/// < 1, token_cap < smallest_token_cap(), which the message then names, groups_of_node or groups_of_pod does not add up to
/// groups, a pod ends inside a node, speeds are not one positive number for each group, or tolerance, pairs_per_token or
/// pairs_per_entering_key is negative or infinite.
Placement place_cost_cut(const DocumentMask& mask, int groups, const CostCutOptions& options = {});

}  // namespace hsap
