// The sections of an explanation that are about time: a rank's program, waits, and causes of the time above the lower bound.
#pragma once

#include <string>

#include "tools/plan/explanation_text.hpp"

namespace hsap {

/// Every op of the rank that was asked for; empty when none was.
std::string program_text(const ExplainedPlan& explained);
std::string waits_text(const ExplainedPlan& explained);
std::string causes_text(const ExplainedPlan& explained);

}  // namespace hsap
