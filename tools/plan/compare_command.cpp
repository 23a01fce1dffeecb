// hsap-plan compare: every strategy on one problem, best first.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "planner/ir/errors.hpp"
#include "tools/plan/commands.hpp"
#include "tools/plan/comparison_json.hpp"
#include "tools/plan/comparison_table.hpp"

namespace hsap {

namespace {

/// An answer in which nothing could run is an answer, but no success.
void require_a_valid_row(const std::vector<Outcome>& outcomes) {
  const bool any = std::any_of(outcomes.begin(), outcomes.end(), [](const Outcome& outcome) { return outcome.valid; });
  if (!any) throw InvalidInput("nothing to compare: " + (outcomes.empty() ? "no strategies" : named_reason(outcomes.front())));
}

void print_table(const RankingOptions& options) {
  check_options(options);
  const PlanningInputs inputs = read_inputs(options.inputs);
  std::cout << inputs.description() << '\n' << std::flush;
  const Ranking ranking = rank_strategies(inputs, options);
  std::cout << comparison_table(ranking, options.evaluator) << std::flush;
  require_a_valid_row(ranking.comparison.outcomes);
}

void print_json(const RankingOptions& options) {
  check_options(options);
  const PlanningInputs inputs = read_inputs(options.inputs);
  const Ranking ranking = rank_strategies(inputs, options);
  std::cout << comparison_json(inputs, ranking, options).dump(2) << '\n' << std::flush;
  require_a_valid_row(ranking.comparison.outcomes);
}

}  // namespace

void compare_built_in() { print_table({}); }

void add_compare_command(CLI::App& app) {
  struct Options {
    RankingOptions ranking;
    bool json = false;
  };
  CLI::App* command = app.add_subcommand("compare", "Compare strategies on a cluster, a model and a packed batch; best first");
  const auto options = std::make_shared<Options>();
  add_ranking_options(*command, options->ranking);
  command
      ->add_flag("--all-degrees", options->ranking.every_degree, "A row for each degrees of a strategy, not only for its best")
      ->group("Search");
  command->add_flag("--json", options->json, "Print JSON instead of a table");
  command->footer(
      "Example:\n  hsap-plan compare --cluster dgx-h100 --gpus 16 --model Qwen3-8B --lengths wikipedia --tokens 262144 \\\n"
      "      --strategy hsap --strategy zigzag --json");
  command->callback([options] { options->json ? print_json(options->ranking) : print_table(options->ranking); });
}

}  // namespace hsap
