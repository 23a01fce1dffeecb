#include "tools/plan/evaluators.hpp"

#include "planner/inputs/input_text.hpp"
#include "planner/ir/errors.hpp"
#include "sim/simulate.hpp"

namespace hsap {

Evaluator make_evaluator(const std::string& name, const ClusterTopology& cluster, const KernelTimes& kernels) {
  if (name == "estimate")
    return [&](const Schedule& schedule, const LinearWork& work) { return estimate_layer(schedule, work, cluster, kernels); };
  if (name == "simulate")
    return [&](const Schedule& schedule, const LinearWork& work) { return simulate_layer(schedule, work, cluster, kernels); };
  throw InvalidInput("evaluator " + shown(name) +
                     " is not known; expected estimate (no contention) or simulate (shared links)");
}

}  // namespace hsap
