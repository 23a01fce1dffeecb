// zigzag: every document cut into 2 P chunks, rank i holding chunks i and 2 P - 1 - i, so that causal work is equal; KV as in
// ring (zigzag_ring_flash_attn_varlen of ring-flash-attention). Documents need not divide: the remainder tokens are dealt round
// robin.
#include "planner/strategies/ring_strategy.hpp"

namespace hsap {

const Strategy& zigzag_strategy() {
  static const RingStrategy strategy("zigzag", "per-document zigzag shards, KV around a ring", place_zigzag, place_by_halves);
  return strategy;
}

}  // namespace hsap
