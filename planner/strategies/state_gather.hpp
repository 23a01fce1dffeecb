// States exchanged once per phase (LASP-2, arXiv 2502.07563): every rank first sums up its own rows, all states travel at once
// while each rank attends inside its shard, and each sums up those that came in. Nothing waits for a chain of ranks. Shared by
// lasp2 and hsap.
//
// As published the states are all-gathered, (P-1) states sent by every rank. Under the causal mask only later ranks have a use
// for a state (in backward: earlier ones), so here it is sent to those only that its document reaches, and reset at document
// starts. For one document on P ranks rank r sends P-1-r states forward and r backward: half the published volume, the same on
// the busiest rank.
#pragma once

#include <vector>

#include "planner/strategies/inner_attention.hpp"

namespace hsap {

/// `chain` in token order; each view holds one range of tokens or none; together they hold the batch.
void state_gather(ProgramBuilder& builder, const std::vector<View>& chain);

}  // namespace hsap
