#include "tools/plan/ranking.hpp"

#include <CLI/CLI.hpp>
#include <cmath>
#include <limits>

#include "planner/ir/errors.hpp"
#include "planner/ir/units.hpp"
#include "tools/progress_line.hpp"
#include "tools/text_table.hpp"

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
  command
      .add_option(
          "--objective", options.objective,
          "Rank and place by the time of the whole layer (layer: attention and the linear work of each rank's tokens) or "
          "of attention alone (attention); default " +
              options.objective)
      ->type_name("NAME")
      ->group(group);
  command
      .add_flag("--barrier", options.barrier,
                "All ranks wait for each other between attention and linear work, as with experts or tensor parallelism across "
                "them: tokens and attention are each balanced")
      ->group(group);
  command
      .add_option("--buffer", options.buffer,
                  "Communication buffers that a rank has: hsap exchanges in more steps where they are small; default: no limit")
      ->type_name("SIZE")
      ->group(group);
  command
      .add_flag("--as-published", options.as_published,
                "Run strategies as their original code does where that does not look at documents: contaminated results")
      ->group(group);
  command
      .add_flag("--ragged-heads", options.ragged_heads,
                "Head-parallel degrees need not divide the heads: some ranks hold one head more")
      ->group(group);
  for (const OptionField& field : option_fields())
    command
        .add_option_function<std::string>(
            "--" + field.name,
            [&options, name = field.name](const std::string& value) { options.strategy_options[name] = value; },
            field.help + "; default: searched, or as published")
        ->type_name(field.type)
        ->group("Options of strategies (hsap-plan list says which has which)");
}

namespace {

StrategyOptions parse_strategy_options(const RankingOptions& options) {
  StrategyOptions result;
  for (const OptionField& field : option_fields())
    if (const auto given = options.strategy_options.find(field.name); given != options.strategy_options.end())
      field.set(result, given->second);
  return result;
}

double buffer_limit(const RankingOptions& options) {
  if (options.buffer.empty()) return std::numeric_limits<double>::infinity();
  try {
    return parse_bytes(options.buffer);
  } catch (const InvalidInput& error) {
    throw InvalidInput("--buffer: " + std::string(error.what()));
  }
}

}  // namespace

LinearWork linear_work_of(const LayerKind& layer, Objective objective, const ClusterTopology& cluster,
                          const KernelTimes& kernels) {
  if (layer.linear_parameters)
    return linear_work(*layer.linear_parameters, layer.attention.dtype, static_cast<int>(cluster.gpus()), kernels);
  if (objective == Objective::attention) return {};
  throw InvalidInput(layer.linear_unknown + "; the time of a layer needs it: add it, or rank by --objective attention");
}

void check_options(const RankingOptions& options) {
  parse_strategy_options(options);
  for (const std::string& strategy : options.strategies) find_strategy(strategy);
  if (!options.degrees.empty()) parse_degrees(options.degrees);
  parse_objective(options.objective);
  buffer_limit(options);
}

Ranking rank_strategies(const PlanningInputs& inputs, const RankingOptions& options) {
  const ClusterTopology& cluster = inputs.cluster.topology;
  const KernelTimes kernels(cluster);
  CompareRequest request;
  request.objective = parse_objective(options.objective);
  request.linear_work = linear_work_of(inputs.layer.kind, request.objective, cluster, kernels);
  request.problem = make_problem(inputs.layer.kind.attention, inputs.batch.batch.offsets, cluster,
                                 request.objective == Objective::layer ? request.linear_work : LinearWork{}, kernels);
  request.linear_work.barrier = request.problem.barrier = options.barrier;
  request.problem.buffer_bytes = buffer_limit(options);
  request.strategies = options.strategies;
  request.problem.ragged_heads = options.ragged_heads;
  request.options = parse_strategy_options(options);
  request.as_published = options.as_published;
  request.every_degree = options.every_degree;
  if (!options.degrees.empty()) request.degrees = parse_degrees(options.degrees);
  const Evaluator evaluator = make_evaluator(options.evaluator, cluster, kernels);
  ProgressLine progress;
  Comparison comparison =
      compare(request, cluster, kernels, evaluator,
              [&](std::size_t done, std::size_t total, const std::string& what) { progress.show(done, total, what); });
  return {request.problem, std::move(comparison), inputs.layer.kind.linear_parameters, kernels.provenance()};
}

std::string contamination_text(const Outcome& outcome) {
  const Contamination& wrong = *outcome.contamination;
  return outcome.strategy + " " + to_string(outcome.degrees) +
         " as published contaminates: " + format_count(static_cast<long long>(wrong.wrong_pairs)) +
         " (query, key) pairs per head reach into other documents, " + format_number(wrong.wasted_flops / 1e12, 2) +
         " TFLOP are wasted on them";
}

std::string buffer_text(const Ranking& ranking, const Outcome& outcome) {
  const double limit = ranking.problem.buffer_bytes;
  return format_bytes(outcome.communication_buffer_bytes) + " of communication buffers" +
         (std::isfinite(limit) ? " of " + format_bytes(limit) : "") +
         (outcome.seconds_for_buffer > 0
              ? "; larger ones would save " + format_seconds(outcome.seconds_for_buffer) + " (estimate)"
              : "");
}

std::string named_reason(const Outcome& outcome) {
  const bool names_itself = outcome.reason.starts_with(outcome.strategy);
  return names_itself ? outcome.reason : outcome.strategy + " " + to_string(outcome.degrees) + ": " + outcome.reason;
}

}  // namespace hsap
