// Degrees per document: each document is computed by a group of ranks of its own size, short ones by one rank, long ones by
// many, as FlexSP, ByteScale and Megatron's hybrid context parallelism have it. Shared by hybrid-cp and zeppelin, which differ
// in how groups are formed and in how long documents' rings pass on.
#pragma once

#include <string>
#include <vector>

#include "planner/strategies/ring_hops.hpp"
#include "planner/strategies/strategy.hpp"

namespace hsap {

/// Documents that the same ranks compute, each cut over all of them (zigzag). One rank: its documents are whole.
struct DocumentGroup {
  std::vector<RankId> ranks;
  std::vector<TokenRange> documents;
};

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

/// Every group works on its documents alone, in the order of the list: rings for groups of several ranks, passing on by `pass`.
/// Every document is in exactly one group. Gradients travel in fp32.
Schedule compile_groups(const std::string& strategy, const Degrees& degrees, const Problem& problem,
                        const std::vector<DocumentGroup>& groups, const PassOn& pass = pass_directly);

}  // namespace hsap
