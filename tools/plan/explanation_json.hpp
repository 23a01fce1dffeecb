// An explained plan for programs: all that explanation_text() tells, and what it leaves out for length.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tools/plan/explanation_text.hpp"

namespace hsap {

/// Ops are listed for the rank that was asked for only.
nlohmann::ordered_json explanation_json(const ExplainedPlan& explained);

}  // namespace hsap
