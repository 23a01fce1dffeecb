// What schedule.hpp says of the slices of each op: roles, equal tokens, heads that belong together, documents of states.
#pragma once

#include "planner/ir/verify/place.hpp"
#include "planner/ir/verify/token_algebra.hpp"

namespace hsap::proof {

/// @pre buffers of the rank and the op's place in its list are checked. Throws InvalidInput.
void check_op(const Place& place, TokenAlgebra& sets);

}  // namespace hsap::proof
