// Sets of seconds as intervals: when something goes on, and how much of it nothing else covers.
#pragma once

#include <vector>

#include "planner/ir/timeline.hpp"

namespace hsap {

/// Sorted, overlapping and touching ones joined; empty ones dropped. O(n log n)
std::vector<OpTime> merged(std::vector<OpTime> times);

/// Sum of the lengths. @pre merged
double seconds_in(const std::vector<OpTime>& times);

/// Seconds covered by `a` and not by `b`. @pre both merged
double seconds_outside(const std::vector<OpTime>& a, const std::vector<OpTime>& b);

}  // namespace hsap
