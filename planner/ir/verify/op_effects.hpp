// What one compute op does to the symbolic contents of its rank's buffers.
#pragma once

#include "planner/ir/verify/contents.hpp"
#include "planner/ir/verify/exact_cover.hpp"

namespace hsap::proof {

/// What the effects of all ranks' ops share.
struct Ledger {
  const Schedule& schedule;
  TokenAlgebra& sets;
  Values& values;
  ExactCover& cover;
};

/// True for q, k, v and d_o: they can only hold the tensor itself.
bool is_input(Role role);
/// "query 5 meets key 3 2 times instead of once (query head 0)"
std::string describe(const Gap& gap, Direction direction, const TokenAlgebra& sets);

/// @pre `op` is no Exchange. Throws InvalidInput as RankContents does, and when an AttendBackward reads o or lse that have not
/// seen all keys yet.
void apply(const Ledger& ledger, RankId rank, Phase phase, const Op& op, RankContents& contents);

}  // namespace hsap::proof
