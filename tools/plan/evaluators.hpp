// The predictors that a search can rank by. The planner knows the closed-form one only; the simulator joins it here.
#pragma once

#include <string>

#include "planner/cost/estimate.hpp"

namespace hsap {

inline constexpr const char* kDefaultEvaluator = "simulate";

/// "estimate" or "simulate". `cluster` and `kernels` must outlive the result. Throws InvalidInput listing the names.
Evaluator make_evaluator(const std::string& name, const ClusterTopology& cluster, const KernelTimes& kernels);

}  // namespace hsap
