// hsap for groups whose tokens are given: for callers that know, or measure, their placement.
#pragma once

#include "planner/placement/placement.hpp"
#include "planner/strategies/strategy.hpp"

namespace hsap {

/// The schedule of strategy hsap, softmax attention only, where group g of degrees.inter holds groups[g]. Throws InvalidInput
/// as Strategy::lower() does, and when options.placement is set or `groups` are not as many.
Schedule lower_hsap(const Problem& problem, const Degrees& degrees, Placement groups, const StrategyOptions& options = {});

}  // namespace hsap
