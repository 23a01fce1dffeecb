// Where hsap puts documents: its own cost cut under several caps, and the laws of other strategies, which now and then suit a
// batch better. The search tries them all.
#pragma once

#include <string>
#include <vector>

#include "planner/placement/placement.hpp"
#include "planner/strategies/strategy.hpp"

namespace hsap {

/// Names of the laws that the search tries; the first one is the default.
std::vector<std::string> hsap_placements();

/// Tokens of each sequence group, whose `degrees.intra` ranks are consecutive, by the law of that name; empty: the default.
/// Throws InvalidInput listing the names there are.
Placement place_hsap(const Problem& problem, const Degrees& degrees, const std::string& law);

}  // namespace hsap
