// Attention across groups that exchange exactly the keys and values that their documents need in one all-to-all-v, before
// attention runs once over them and a rank's own: nothing hides the exchange, but there are no partial results to merge, and
// kernels are as long as they can be. Fastest where attention is far longer than the exchange, and where both are so short that
// launches count. What blockdiag is made of (NeMo Automodel's blockdiag_cp, its general path).
//
// Bytes, with N = needed keys of all groups and kvt = bytes of one key and value: forward N kvt; backward N kvt of d_k, d_v,
// which owners add in fp32. Received keys and values are kept for backward.
#pragma once

#include <vector>

#include "planner/strategies/inner_attention.hpp"

namespace hsap {

/// views[group][member]; member m of every group holds the same heads, and talks to member m of other groups only. `d_kv`: d_k
/// and d_v on the wire. Softmax attention only.
void joined_exchange(ProgramBuilder& builder, const std::vector<std::vector<View>>& views, DType d_kv);

}  // namespace hsap
