// The proof that a Schedule is right, before anyone runs it. Works on intervals: fast at 1,024 ranks and millions of tokens.
#pragma once

#include <optional>

#include "planner/ir/schedule.hpp"

namespace hsap {

struct VerifyLimits {
  /// Peak memory that each rank may use; nullopt = not checked.
  std::optional<double> memory_bytes;
};

/// Returns when all of this holds, else throws InvalidInput that names rank, phase, op and what is wrong:
///  1. structure: ids, streams (0 to 7), `after`, slices inside their buffers, roles, heads and widths that fit each op;
///  2. every token of `mask` is owned by exactly one rank, and boundary buffers are complete;
///  3. every message is received once, in order per rank pair, with equal parts; no rank waits for ever;
///  4. data flow: nothing is read before it is written (by an op that is ordered before: stream or `after`, not luck), nothing
///  is
///     overwritten while a reader may still need it, nothing is computed and never read (a block of q, k, v, d_o, lse or delta
///     may be received only to be passed on, or not even that), the inputs of the layer are never written;
///  5. exact cover: every (query, key) pair inside the mask enters o, d_q, d_k and d_v exactly once per head, none outside
///  does; no
///     partial result enters twice, and backward uses o and lse only when they are whole;
///  6. every gradient ends at the owner of its token;
///  7. peak memory is within the limit.
/// `mask` is the batch the caller believes in; it must equal schedule.mask.
void verify(const Schedule& schedule, const DocumentMask& mask, const VerifyLimits& limits = {});

}  // namespace hsap
