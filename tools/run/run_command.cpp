#include "tools/run/run_command.hpp"

#include <iostream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "backend/cpu/host_memory.hpp"
#include "backend/executor.hpp"
#include "planner/inputs/input_text.hpp"
#include "planner/ir/errors.hpp"
#include "tools/progress_line.hpp"
#include "tools/run/report.hpp"

namespace hsap {

namespace {

/// (query, key, head) triples that the oracle visits at most: some six seconds on one core. Larger batches are sampled by rows.
constexpr double kOraclePairs = 5e6;

/// Inputs are held whole beside what the executor allocates.
double input_bytes(const Schedule& schedule) {
  const AttentionShape& shape = schedule.shape;
  return static_cast<double>(schedule.mask.tokens()) * (shape.query_heads + shape.kv_heads) * (shape.qk_dim + shape.v_dim) *
         sizeof(float);
}

}  // namespace

void run_plan(const RunOptions& options) {
  if (options.backend != "cpu") throw InvalidInput("backend " + shown(options.backend) + " is not known; expected cpu");
  if (options.repeat < 1) throw InvalidInput("--repeat " + std::to_string(options.repeat) + ": expected at least 1");
  const PlanFile plan = read_plan_file(options.plan);
  check_expectations(options.expectations, plan);
  check_host_memory(host_bytes_needed(plan.schedule) + input_bytes(plan.schedule), host_bytes_available());

  const LayerInputs inputs = random_inputs(plan.schedule.shape, plan.schedule.mask.tokens(), options.seed);
  RunReport report;
  report.plan_file = options.plan;
  report.backend = options.backend;
  report.seed = options.seed;
  {
    ProgressLine progress;
    const auto repeats = static_cast<std::size_t>(options.repeat);
    for (std::size_t repeat = 0; repeat < repeats; ++repeat) {
      progress.show(repeat, repeats, "executing");
      const Execution execution = execute_on_cpu(plan.schedule, inputs);
      report.forward_seconds.push_back(execution.timeline.forward.seconds());
      report.backward_seconds.push_back(execution.timeline.backward.seconds());
      if (options.verify && repeat + 1 == repeats) {
        progress.show(repeats, repeats, "comparing with the oracle");
        report.errors =
            compare_sampled(plan.schedule.shape, plan.batch_mask(), inputs, execution.results, kOraclePairs, options.seed);
      }
    }
  }
  if (options.json)
    std::cout << report_json(report, plan).dump(2) << '\n';
  else
    std::cout << report_text(report, plan);
  std::cout.flush();
  if (!report.passed()) throw std::runtime_error(failure_text(report, plan));
}

}  // namespace hsap
