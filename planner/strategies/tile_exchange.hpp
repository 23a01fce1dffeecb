// Attention in tiles (tile_plan.hpp): queries visit the groups of their row, which attend them to the keys of their column. For
// documents on so many groups that keys would take too long, or too much memory, to come to each of them.
//
//   forward   own queries meet own keys while visitors come; visitors meet those keys; both meet the keys of each stage while
//             the next ones come; outputs of visitors go home and are merged
//   backward  d_o, lse and delta of visitors come; gradients of each stage's keys go home while the next stage computes, then
//             the d_q of visitors; owners add them in fp32
//
// Bytes per row: those of move_plan.hpp. Memory: visiting rows and the keys of a column, instead of all keys.
#pragma once

#include <vector>

#include "planner/strategies/inner_attention.hpp"
#include "planner/strategies/move_plan.hpp"

namespace hsap {

/// views[group][member]; member m of every group holds the same heads, and talks to member m of other groups only.
/// node_of_rank[r] ascends. Of `rules`, `moving` and `stage_of` are not looked at. Softmax attention only.
void tile_exchange(ProgramBuilder& builder, const std::vector<std::vector<View>>& views, const std::vector<int>& node_of_rank,
                   const ExchangeRules& rules);

}  // namespace hsap
