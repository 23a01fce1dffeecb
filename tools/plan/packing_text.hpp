// A packing for people.
#pragma once

#include <string>

#include "tools/plan/packing_run.hpp"

namespace hsap {

/// A row per mesh, a row per micro-batch (or replica, or batch, when there are many) of the chosen one, and what it gains.
/// Lines up to kLineWidth wide.
std::string packing_text(const PackRun& run, const PackOptions& options);

}  // namespace hsap
