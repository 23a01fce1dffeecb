// A slow oracle of verify() that shares nothing with it: runs a Schedule token by token, with the ops of different streams and
// ranks in an order drawn at random, and looks at which (query, key) pairs ended up in the results. A schedule that verify()
// accepts must come out right for every order.
#pragma once

#include <optional>
#include <string>

#include "planner/ir/schedule.hpp"

namespace hsap::test {

/// What went wrong, or nullopt when every result is right. O(ops x tokens^2 x heads): for small schedules.
/// @pre ids, buffers and slices are in range.
std::optional<std::string> find_fault(const Schedule& schedule, unsigned seed);

}  // namespace hsap::test
