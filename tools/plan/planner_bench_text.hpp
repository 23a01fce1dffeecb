// The report of hsap-plan bench-planner for people.
#pragma once

#include <string>

#include "tools/plan/planner_bench.hpp"

namespace hsap {

/// For every number of ranks a table with a line for each instance and one with all planners; lines of at most kLineWidth.
std::string planner_bench_text(const PlannerBench& bench);

}  // namespace hsap
