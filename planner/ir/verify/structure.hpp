// Everything about a Schedule that can be checked op by op, without following data: ids, ranges, roles and shapes.
// The rest of verify() relies on it.
#pragma once

#include "planner/ir/schedule.hpp"
#include "planner/ir/verify/token_algebra.hpp"
#include "planner/ir/verify/token_counts.hpp"

namespace hsap::proof {

/// Most heads of a layer (so that a head range fits into one number).
inline constexpr int kMaxHeads = 65535;

/// The kv heads that serve these query heads.
HeadRange kv_heads_of(const HeadRange& query_heads, const AttentionShape& shape);

/// The layer's sizes, the degrees and the token sets. Throws InvalidInput.
void check_layer(const Schedule& schedule);
/// Every token on exactly one rank. Throws InvalidInput.
void check_ownership(const Schedule& schedule, TokenCounts& counts);
/// Buffers, boundary and ops of every rank. Throws InvalidInput. `sets` belong to `schedule`.
void check_programs(const Schedule& schedule, TokenAlgebra& sets);

}  // namespace hsap::proof
