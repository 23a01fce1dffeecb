#include "tools/plan/chosen_plan.hpp"

#include <algorithm>

#include "planner/ir/errors.hpp"
#include "planner/ir/verify.hpp"

namespace hsap {

namespace {

double smallest_memory(const ClusterTopology& cluster) {
  double bytes = cluster.device(0).memory_bytes;
  for (GpuId gpu = 1; gpu < cluster.gpus(); ++gpu) bytes = std::min(bytes, cluster.device(gpu).memory_bytes);
  return bytes;
}

}  // namespace

const Outcome& chosen_outcome(const Ranking& ranking, const std::vector<std::string>& asked) {
  const Comparison& comparison = ranking.comparison;
  if (comparison.best) return comparison.outcomes[*comparison.best];
  const Outcome& first = comparison.outcomes.front();
  if (asked.size() == 1 && first.valid && first.fits) return first;
  if (!first.reason.empty()) throw InvalidInput(named_reason(first));
  throw InvalidInput("no strategy serves " + to_string(ranking.problem.shape.kind) + " attention here; " + first.strategy +
                     " serves " + to_string(first.attention) + " attention, ask for it alone to plan the layer's counterpart");
}

PlanFile make_plan(const PlanningInputs& inputs, const Ranking& ranking, const Outcome& outcome, const std::string& evaluator) {
  PlanFile plan;
  plan.cluster_name = inputs.cluster.topology.name();
  plan.cluster_text = inputs.cluster.text;
  plan.gpus = inputs.cluster.gpus;
  plan.model = inputs.layer.model.name;
  plan.layer = inputs.layer.kind.name;
  plan.mask = inputs.layer.mask;
  plan.recipe = inputs.batch.recipe;
  plan.options = outcome.options;
  plan.objective = ranking.comparison.objective;
  plan.barrier = ranking.problem.barrier;
  plan.linear_parameters = ranking.linear_parameters;
  plan.predicted = {evaluator, device_names(inputs.cluster.topology), outcome.forward_seconds, outcome.backward_seconds, {}};
  if (plan.linear_parameters) plan.predicted.layer = {outcome.layer_forward_seconds, outcome.layer_backward_seconds};
  plan.schedule = lower(outcome, ranking.problem);
  if (outcome.contamination) plan.contaminated = inputs.batch.batch.offsets;
  const DocumentMask computed(
      outcome.contamination ? std::vector<Token>{0, inputs.batch.batch.tokens()} : inputs.batch.batch.offsets,
      plan.schedule.shape.mask);
  verify(plan.schedule, computed, {.memory_bytes = smallest_memory(inputs.cluster.topology)});
  return plan;
}

}  // namespace hsap
