// Attention across groups that exchange exactly the keys and values that their documents need in one all-to-all-v, before
// attention runs once over them and a rank's own: nothing hides the exchange, but there are no partial results to merge, and
// kernels are as long as they can be. Fastest where attention is far longer than the exchange, and where both are so short that
// launches count. What blockdiag is made of (NeMo Automodel's blockdiag_cp, its general path).
//
// Bytes, with N = needed keys of all groups and kvt = bytes of one key and value: forward N kvt; backward N kvt of d_k, d_v,
// which owners add. Received keys and values are kept for backward.
#pragma once

#include <vector>

#include "planner/strategies/inner_attention.hpp"

namespace hsap {

struct JoinedExchangeRules {
  DType d_kv = DType::bf16;  ///< d_k and d_v as attention writes them and as they travel
  DType sum = DType::fp32;   ///< in which owners add them; that of d_kv needs neither buffers nor copies of its own
};

/// views[group][member]; member m of every group holds the same heads, and talks to member m of other groups only. Softmax
/// attention only.
void joined_exchange(ProgramBuilder& builder, const std::vector<std::vector<View>>& views, const JoinedExchangeRules& rules);

}  // namespace hsap
