// Ring attention on views (Liu et al. 2023, arXiv 2310.01889, as ring-flash-attention runs it): the KV blocks travel once
// around the ring, each rank attends to the block it has while the next one arrives. Backward: the KV ring again, and a second
// ring that carries the fp32 dK, dV of each block, adding the local part and passing it on, until it is home after R hops.
// Bytes sent per rank, with KVb = bytes of one block: forward KVb; backward KVb + R x (fp32 KVb).
// The whole block always travels, whatever the documents need. Shared by ring, zigzag and usp.
#pragma once

#include <vector>

#include "planner/strategies/inner_attention.hpp"

namespace hsap {

/// One place in the ring. A rank attends with all its tokens to the whole block, or where that is enough with some parts to
/// some parts of the block: zigzag shards have two, the early and the late chunks of their documents.
struct RingPlace {
  View view;
  std::vector<TokenSetId> parts;  ///< disjoint, together the view's tokens
};

/// A shard without parts: contiguous.
RingPlace place_whole(ProgramBuilder& builder, const View& view);
/// A zigzag shard: its rows in the first halves of their documents, and those in the second halves.
RingPlace place_by_halves(ProgramBuilder& builder, const View& view);

/// One ring: ring[i] sends to ring[(i+1) % R]. The views' tokens are disjoint, their heads equal.
void ring_pass(ProgramBuilder& builder, const std::vector<RingPlace>& ring);

}  // namespace hsap
