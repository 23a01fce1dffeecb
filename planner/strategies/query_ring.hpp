// The backward pass of BurstAttention (Sun et al. 2024, arXiv 2403.09347, as burst_attn_interface runs it): keys and values
// stay where they are, and the ring carries what backward needs of the queries: q, d_o, delta and the log-sum-exp for R-1 hops,
// and a second ring d_q, to which each rank adds its part, for R hops until it is home. Bytes sent per rank, with Qb = bytes of
// one rank's q and LSEb of its fp32 lse: (R-1) (2 Qb + 2 LSEb) + R Qb, d_q in the model's dtype. It beats the KV ring with
// gradients in the model's dtype only while query heads are fewer than 4/3 of kv heads.
#pragma once

#include "planner/strategies/ring_pass.hpp"

namespace hsap {

/// Backward of a ring whose forward() is done.
void query_ring_backward(ProgramBuilder& builder, RingPass& ring);

}  // namespace hsap
