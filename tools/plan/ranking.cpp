#include "tools/plan/ranking.hpp"

#include "tools/progress_line.hpp"

namespace hsap {

void add_ranking_options(CLI::App& command, RankingOptions& options) {
  add_input_options(command, options.inputs);
  const std::string group = "Search";
  command.add_option("--strategy", options.strategies, "Only this strategy; may be given several times (see hsap-plan list)")
      ->type_name("NAME")
      ->group(group)
      ->expected(1)
      ->take_all();
  command.add_option("--degrees", options.degrees, "Only these degrees: head-parallel x sequence-parallel, such as 8x2")
      ->type_name("AxB")
      ->group(group);
  command
      .add_option(
          "--evaluator", options.evaluator,
          "Predictor that ranks: simulate (shared links) or estimate (no contention, faster); default " + options.evaluator)
      ->type_name("NAME")
      ->group(group);
}

void check_options(const RankingOptions& options) {
  for (const std::string& strategy : options.strategies) find_strategy(strategy);
  if (!options.degrees.empty()) parse_degrees(options.degrees);
}

Ranking rank_strategies(const PlanningInputs& inputs, const RankingOptions& options) {
  const ClusterTopology& cluster = inputs.cluster.topology;
  const KernelTimes kernels(cluster);
  CompareRequest request;
  request.problem = make_problem(inputs.layer.kind.attention, inputs.batch.batch.offsets, cluster);
  request.strategies = options.strategies;
  request.every_degree = options.every_degree;
  if (!options.degrees.empty()) request.degrees = parse_degrees(options.degrees);
  const Evaluator evaluator = make_evaluator(options.evaluator, cluster, kernels);
  ProgressLine progress;
  Comparison comparison =
      compare(request, cluster, kernels, evaluator,
              [&](std::size_t done, std::size_t total, const std::string& what) { progress.show(done, total, what); });
  return {request.problem, std::move(comparison), kernels.provenance()};
}

std::string named_reason(const Outcome& outcome) {
  const bool names_itself = outcome.reason.starts_with(outcome.strategy);
  return names_itself ? outcome.reason : outcome.strategy + " " + to_string(outcome.degrees) + ": " + outcome.reason;
}

}  // namespace hsap
