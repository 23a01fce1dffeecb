// Attention across groups that exchange only what their documents need, and the programs of it (move_plan.hpp says what moves
// where and when). The InterSP half of HSAP (our own design), and what magi, dcp and distflashattn are made of.
//
//   forward   local attention hides the first stage, the attention of each stage hides the next one's rounds; partial results
//             of queries that moved come home a stage later and are merged
//   backward  each stage's gradients go home while the next stage and the local part compute; owners add them in fp32. When
//             something must come before a rank can work (queries, or keys and values that were not kept), its local part
//             comes first and hides that, else last and hides the way home of the last stage.
//
// The way there of stage s+1 is issued before the way home of stage s, on every rank: so all ranks meet in one order.
#pragma once

#include <vector>

#include "planner/strategies/inner_attention.hpp"
#include "planner/strategies/move_plan.hpp"

namespace hsap {

/// views[group][member]; member m of every group holds the same heads, and talks to member m of other groups only.
/// node_of_rank tells which messages stay inside a node. Softmax attention only.
void needed_exchange(ProgramBuilder& builder, const std::vector<std::vector<View>>& views, const std::vector<int>& node_of_rank,
                     const ExchangeRules& rules);

}  // namespace hsap
