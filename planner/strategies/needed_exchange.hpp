// Needed-only attention across sequence groups, the InterSP half of HSAP (our own design): each group fetches just the keys and
// values of its documents that other groups hold, in rounds without contention, while it attends to what it already has.
//
//   forward   local attention hides the first stage, the attention of each stage hides the next one's rounds
//   backward  the stages' d_k, d_v go home while the next stage and the local part compute; owners add them in fp32
//
// Messages inside a node and between nodes use different ports, so they are coloured and run on streams of their own.
// Received keys and values are kept for backward. Wire dtype: the model's, for K, V and for d_k, d_v (each part crosses once).
#pragma once

#include <vector>

#include "planner/strategies/inner_attention.hpp"

namespace hsap {

/// views[group][member]; member m of every group holds the same heads, and talks to member m of other groups only.
/// node_of_rank tells which messages stay inside a node. `stages` >= 1: in how many steps remote keys are attended to.
void needed_exchange(ProgramBuilder& builder, const std::vector<std::vector<View>>& views, const std::vector<int>& node_of_rank,
                     int stages);

}  // namespace hsap
