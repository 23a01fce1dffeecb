// What no packing of a global batch on a mesh beats, in the terms of the step model.
//
// Why. With c the cost of a document on one rank, R ranks and D replicas, a replica takes at least fixed + its cost / R for
// each micro-batch. (a) The longest replica is not below the mean, and all micro-batches together are at least the tokens over
// the capacity: step >= sum c / (R D) + fixed x ceil(tokens / capacity) / D. (b) Of the k D + 1 costliest documents k + 1 share
// a replica, by counting, and cost at least as much as the k + 1 cheapest of these; k = 0 is the costliest document alone: step
// >= fixed + (c[kD - k] + ... + c[kD]) / R with c descending from c[0]. (Our derivation.)
#pragma once

#include <vector>

#include "planner/packing/step_model.hpp"

namespace hsap {

/// Seconds of a step; 0 without documents. O(n log n)
double packing_bound_seconds(const StepModel& model, const std::vector<Token>& lengths);

}  // namespace hsap
