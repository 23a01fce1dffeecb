// execute_on_cpu with devices of the caller's choice: tests slow one down, or let it fail.
#pragma once

#include <functional>
#include <memory>

#include "backend/device.hpp"
#include "backend/executor.hpp"

namespace hsap {

using MakeDevice = std::function<std::unique_ptr<Device>(RankId)>;

/// As execute_on_cpu, which is this with a CpuDevice per rank.
Execution run_on_threads(const Schedule& schedule, const LayerInputs& inputs, const MakeDevice& make_device);

}  // namespace hsap
