// Ring attention on views (Liu et al. 2023, arXiv 2310.01889, as ring-flash-attention runs it): the KV blocks travel once around the ring, each
// rank attends to the block it has while the next one arrives. Backward: the KV ring again, and a second ring that carries
// the fp32 dK, dV of each block, adding the local part and passing it on, until it is home after R hops.
// Bytes sent per rank, with KVb = bytes of one block: forward KVb; backward KVb + R x (fp32 KVb).
// The whole block always travels, whatever the documents need. Shared by ring, zigzag and usp.
#pragma once

#include <vector>

#include "planner/strategies/inner_attention.hpp"

namespace hsap {

/// One ring: ring[i] sends to ring[(i+1) % R]. The views' tokens are disjoint, their heads equal.
void ring_pass(ProgramBuilder& builder, const std::vector<View>& ring);

}  // namespace hsap
