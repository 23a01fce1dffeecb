// stripe: token t of the pack on rank t mod P (Striped Attention, Brandon et al. 2023, arXiv 2311.09431, as
// stripe_flash_attn of ring-flash-attention runs it): every rank sees of each block what all others see of theirs, but for the
// diagonal, so that causal work is equal in each step of the ring. The published code takes one sequence; on a pack the rows of
// a document lie on all ranks alike. Single tokens as ranges make large schedules: 2 T numbers of token sets in all.
#include "planner/strategies/ring_strategy.hpp"

namespace hsap {

const Strategy& stripe_strategy() {
  static const RingStrategy strategy("stripe", "tokens dealt out one by one, KV around a ring", place_stripes, place_scattered);
  return strategy;
}

}  // namespace hsap
