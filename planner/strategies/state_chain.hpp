// States handed from rank to rank (LASP, Sun et al. 2024, arXiv 2404.02882): a rank adds its rows to the state that came in and
// hands it on, so the chain's latency is that of all hops and all updates on the way. It is cut where no document straddles.
// Shared by lasp and hsap. Bytes: one state per direction and straddled boundary (shard_states.hpp).
#pragma once

#include <vector>

#include "planner/strategies/inner_attention.hpp"

namespace hsap {

/// `chain` in token order; each view holds one range of tokens or none; together they hold the batch.
void state_chain(ProgramBuilder& builder, const std::vector<View>& chain);

}  // namespace hsap
