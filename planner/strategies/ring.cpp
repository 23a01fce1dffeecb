// ring: contiguous shards, KV blocks travel once around the ring (ring_pass.hpp). The document mask is respected, but the whole
// KV always moves, and the last rank of one long causal document works up to 2 P / (P + 1) times the mean.
#include "planner/strategies/ring_strategy.hpp"

namespace hsap {

const Strategy& ring_strategy() {
  static const RingStrategy strategy("ring", "contiguous shards, KV around a ring", place_contiguous, place_whole);
  return strategy;
}

}  // namespace hsap
