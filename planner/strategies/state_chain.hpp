// Linear attention over contiguous shards (LASP, Sun et al. 2024, arXiv 2404.02882): each rank attends inside its shard, and
// what came before reaches it as one state S = sum k^T v per head, handed from rank to rank. The state is reset at document
// starts, so a hop happens only where a document straddles two shards. Backward: the chain reversed with D = sum q^T d_o. Bytes
// of a hop and direction: kv_heads x qk_dim x v_dim x 4 (fp32), whatever the shard's length. Shared by lasp and hsap.
//
//   forward   o += q S (rows of the straddling document)         S' = S + k^T v   -> next rank
//   backward  d_q += d_o S^T,  d_k += v D^T,  d_v += k D          D' = D + q^T d_o -> previous rank
#pragma once

#include <vector>

#include "planner/strategies/inner_attention.hpp"

namespace hsap {

/// `chain` in token order; each view holds one range of tokens or none; together they hold the batch.
void state_chain(ProgramBuilder& builder, const std::vector<View>& chain);

}  // namespace hsap
