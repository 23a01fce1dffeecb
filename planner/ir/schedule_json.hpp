// A Schedule as JSON, versioned. Token sets are written once and named by index, so files stay small.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "planner/ir/schedule.hpp"

namespace hsap {

inline constexpr int kScheduleJsonVersion = 1;

nlohmann::json to_json(const Schedule& schedule);
/// Throws InvalidInput that names the key: unknown version, missing key, index out of range, wrong type.
Schedule schedule_from_json(const nlohmann::json& json);

}  // namespace hsap
