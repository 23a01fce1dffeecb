// Which ranks compute which documents, when each document has a degree of its own: short ones one rank, long ones many, as
// FlexSP, ByteScale and Megatron's hybrid context parallelism have it.
#pragma once

#include <vector>

#include "planner/placement/placement.hpp"

namespace hsap {

/// Documents that the same ranks compute, each cut over all of them (zigzag). One rank: its documents are whole.
struct DocumentGroup {
  std::vector<RankId> ranks;
  std::vector<TokenRange> documents;
};

/// A group for each document by its length: of the least degree at which a rank holds at most `block` of its tokens. Degrees
/// are the powers of two that divide `ranks`, and `ranks`; groups of one degree are aligned, and each document goes to the
/// group with the least load, long ones first. O(documents log ranks).
std::vector<DocumentGroup> groups_by_degree(const DocumentMask& mask, int ranks, Token block);

/// A group for each document by its length: of all ranks, of those of a node, or of one. One rank up to the tokens of a rank,
/// T / ranks, those of a node up to T / nodes; each document goes to the group with the least load, long classes and long
/// documents first. Groups of all ranks come first, then nodes, then ranks. O(documents log ranks).
std::vector<DocumentGroup> groups_by_class(const DocumentMask& mask, const std::vector<int>& node_of_rank);

/// Tokens that each rank holds when every group cuts its documents over its ranks (zigzag).
Placement placement_of(const std::vector<DocumentGroup>& groups, int ranks);

/// Load of each rank while documents are dealt out, largest first: each goes to the group whose busiest rank has least.
class RankLoads {
 public:
  explicit RankLoads(int ranks) : loads_(static_cast<std::size_t>(ranks), 0) {}

  /// Deals `documents` out to the candidate groups, which are disjoint, by the pairs of the mask; groups keep their order.
  /// O(documents log groups).
  void deal(const DocumentMask& mask, std::vector<TokenRange> documents, std::vector<DocumentGroup>& groups);

 private:
  std::vector<double> loads_;  // [rank] pairs per head
};

}  // namespace hsap
