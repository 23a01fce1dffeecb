// Attention over all-gathered keys and values: every rank gets all K and V, attends with its own rows, and in backward the
// gradients it has worked out for all keys are reduce-scattered to their owners. Shared by allgather and wlb. KV heads may go
// in slices, the next slice being gathered while the present one computes. The gather is hierarchical, as NCCL's is over many
// nodes: first among the ranks with the same place in their node (every NIC carries (W-1) KVb), then inside the node.
// Bytes sent per rank, KVb of one rank: forward (P-1) KVb; backward (P-1) KVb of gradients, and (P-1) KVb again when K and V
// are gathered anew. Document lengths change nothing.
#pragma once

#include <optional>

#include "planner/strategies/inner_attention.hpp"

namespace hsap {

struct GatherRules {
  int slices = 1;                ///< most slices of the KV heads
  bool keep_kv = false;          ///< what forward gathered stays for backward
  bool k_before_v = false;       ///< K and V in exchanges of their own
  DType gradient = DType::bf16;  ///< of d_k, d_v on the wire
};

/// Forward and backward of all ranks; each owns any token set.
void gather_attention(ProgramBuilder& builder, const Problem& problem, const GatherRules& rules);

}  // namespace hsap
