// The report of hsap-plan bench-planner for programs: every number of every run.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tools/plan/planner_bench.hpp"

namespace hsap {

/// Times in seconds, keys in tokens. null = not known, or a bound of 0 to divide by.
nlohmann::ordered_json planner_bench_json(const PlannerBench& bench);

}  // namespace hsap
