// Rings inside a ring (LoongTrain, Gu et al. 2024, arXiv 2406.18485, as its zigzag ring with sliding window runs it). The R
// places are W windows of w. In window step j every inner ring passes round the blocks of the window j windows back, w - 1
// hops, while each block goes one outer hop to the same place of the next window: all places of a window send across at once,
// so that every NIC of a node carries its share, and an outer hop hides behind a whole inner ring. Backward: the same for K and
// V; the gradients of a window's blocks go round the inner ring with w hops, are then added to those that came with the outer
// hop, and go one outer hop on, W in all, the last one home. In the first window step they are fp32, afterwards in the model's
// dtype. Bytes sent per rank, KVb of one block in the model's dtype (2 bytes):
//   forward   W (w-1) KVb inside + (W-1) KVb across
//   backward  W (w-1) KVb + w 2 KVb + (W-1) w KVb inside, (W-1) KVb + W KVb across
#pragma once

#include <vector>

#include "planner/strategies/ring_member.hpp"

namespace hsap {

struct DoubleRingRules {
  std::size_t window = 1;              ///< w: places of an inner ring; divides the number of places
  DType first_gradient = DType::fp32;  ///< of d_k, d_v in the first window step
  DType later_gradient = DType::fp32;  ///< and in the others, and across
};

/// Forward and backward. places[n * w + p] is place p of window n.
void double_ring_pass(ProgramBuilder& builder, std::vector<RingPlace> places, const DoubleRingRules& rules);

}  // namespace hsap
