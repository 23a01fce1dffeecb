// hsap-plan explain: what a plan does, and why it takes as long as it does.
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "planner/ir/errors.hpp"
#include "tools/command_line.hpp"
#include "tools/plan/chosen_plan.hpp"
#include "tools/plan/commands.hpp"
#include "tools/plan/explanation_json.hpp"
#include "tools/plan/explanation_text.hpp"

namespace hsap {

namespace {

struct ExplainOptions {
  std::string plan;  ///< file; empty = the plan for the built-in problem
  std::string evaluator = kDefaultEvaluator;
  bool json = false;
  std::optional<RankId> rank;
  std::size_t documents = 8;
};

PlanFile built_in_plan(const std::string& evaluator) {
  RankingOptions options;
  options.evaluator = evaluator;
  const PlanningInputs inputs = read_inputs(options.inputs);
  const Ranking ranking = rank_strategies(inputs, options);
  return make_plan(inputs, ranking, chosen_outcome(ranking, options.strategies), evaluator);
}

void require_rank(const PlanFile& plan, const std::optional<RankId>& rank) {
  const std::size_t ranks = plan.schedule.ranks.size();
  if (rank && *rank >= ranks)
    throw InvalidInput("--rank " + std::to_string(*rank) + ": the plan has " + std::to_string(ranks) +
                       " ranks, expected 0 to " + std::to_string(ranks - 1));
}

/// What the plan's strategy was asked for.
Problem problem_of(const PlanFile& plan, const ClusterTopology& cluster, const LinearWork& work, const KernelTimes& kernels) {
  Problem problem = make_problem(plan.schedule.shape, plan.schedule.mask.offsets(), cluster, work, kernels);
  problem.mask = plan.schedule.mask;
  problem.barrier = plan.barrier;
  problem.ragged_heads = true;  // the plan does not say; it only allows more
  return problem;
}

void explain_plan(const ExplainOptions& options) {
  const PlanFile plan = options.plan.empty() ? built_in_plan(options.evaluator) : read_plan_file(options.plan);
  require_rank(plan, options.rank);
  const ClusterTopology cluster = plan.cluster();
  const KernelTimes kernels(cluster);
  const LinearWork work = plan.linear_work(kernels);
  const LayerTimeline timeline = make_evaluator(options.evaluator, cluster, kernels)(plan.schedule, work);
  const std::optional<Schedule> uncapped =
      without_token_cap(plan.schedule, plan.options, problem_of(plan, cluster, work, kernels));
  const Explanation explanation =
      explain(plan.schedule, plan.batch_mask(), timeline, cluster, kernels, work, uncapped ? &*uncapped : nullptr);
  const ExplainedPlan explained{plan,        cluster,      options.evaluator, timeline.attention,
                                explanation, options.rank, options.documents};
  if (options.json)
    std::cout << explanation_json(explained).dump(2) << '\n';
  else
    std::cout << explanation_text(explained);
}

}  // namespace

void add_explain_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("explain", "Explain a plan: who holds and sends what, who waits, where the time goes");
  const auto options = std::make_shared<ExplainOptions>();
  command->add_option("plan", options->plan, "Plan file; without it, the best plan for the built-in problem")
      ->type_name("FILE");
  command
      ->add_option(
          "--evaluator", options->evaluator,
          "Predictor of the times: simulate (shared links) or estimate (no contention, faster); default " + options->evaluator)
      ->type_name("NAME");
  command->add_option("--rank", options->rank, "Also every op of this rank, in the order in which it issues them")
      ->type_name("R")
      ->check(kWholeNumber);
  command->add_option("--documents", options->documents, "How many documents to show, longest first; default 8")
      ->type_name("N")
      ->check(kWholeNumber);
  command->add_flag("--json", options->json, "Print JSON with everything instead of text");
  command->footer("Example:\n  hsap-plan explain plan.json --rank 0 --evaluator estimate");
  command->callback([options] { explain_plan(*options); });
}

}  // namespace hsap
