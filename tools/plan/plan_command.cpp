// hsap-plan plan: chooses like `compare` and writes the proved plan.
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "planner/ir/units.hpp"
#include "tools/plan/bound_distance.hpp"
#include "tools/plan/chosen_plan.hpp"
#include "tools/plan/commands.hpp"
#include "tools/plan/ranking.hpp"
#include "tools/plan_file.hpp"
#include "tools/terminal.hpp"
#include "tools/text_table.hpp"
#include "tools/whole_file.hpp"

namespace hsap {

namespace {

struct PlanOptions {
  RankingOptions ranking;
  std::string out;
};

/// Why this one: against the runner-up, or because nothing else was asked for.
std::string reason_for(const Comparison& comparison, const Outcome& chosen) {
  const Objective objective = comparison.objective;
  for (const Outcome& other : comparison.outcomes)
    if (&other != &chosen && other.valid && other.fits && !other.contamination && other.attention == chosen.attention)
      return "fastest of " + std::to_string(comparison.outcomes.size()) + " compared, " +
             std::to_string(static_cast<int>(100 * (other.seconds(objective) / chosen.seconds(objective) - 1) + 0.5)) +
             " % ahead of " + describe(other.strategy, other.degrees, other.options);
  return "the only one compared that can run";
}

/// Attention's times, and the layer's where they are known.
std::string predicted_text(const PlanFile& plan, const Outcome& chosen) {
  const Prediction& predicted = plan.predicted;
  std::string text = "attention " + format_seconds(predicted.forward_seconds) + " forward, " +
                     format_seconds(predicted.backward_seconds) + " backward";
  if (predicted.layer)
    text += "; layer " + format_seconds(predicted.layer->forward_seconds) + " forward, " +
            format_seconds(predicted.layer->backward_seconds) + " backward";
  return text + " (" + predicted.evaluator + ", " + predicted.device + "); " + to_string(plan.objective) + " is " +
         format_number(chosen.over_bound, 2) + " times the lower bound";
}

void make_and_write(const PlanOptions& options) {
  require_writable(options.out);
  check_options(options.ranking);
  const PlanningInputs inputs = read_inputs(options.ranking.inputs);
  std::cout << inputs.description() << '\n' << std::flush;
  const Ranking ranking = rank_strategies(inputs, options.ranking);
  const Outcome& chosen = chosen_outcome(ranking, options.ranking.strategies);
  const PlanFile plan = make_plan(inputs, ranking, chosen, options.ranking.evaluator);
  write_plan_file(options.out, plan);
  std::cout << "chosen     " << bold(describe(chosen.strategy, chosen.degrees, chosen.options)) << ": "
            << reason_for(ranking.comparison, chosen) << '\n';
  if (chosen.attention != ranking.problem.shape.kind)
    std::cout << "attention  " << to_string(chosen.attention) << ": the plan is for the counterpart of the model's "
              << to_string(ranking.problem.shape.kind) << " layer\n";
  if (chosen.contamination) std::cout << labelled("wrong", 11, contamination_text(chosen)) << '\n';
  std::cout << labelled("predicted", 11, predicted_text(plan, chosen)) << '\n';
  if (ranking.comparison.best && &chosen == &ranking.comparison.outcomes[*ranking.comparison.best])
    std::cout << distance_text(ranking.comparison, "bound", 11);
  std::cout << labelled("buffers", 11, buffer_text(ranking, chosen)) << '\n'
            << "proved     every (query, key) pair once, messages matched, " << format_bytes(chosen.peak_memory_bytes)
            << " at peak\n"
            << "written    " << options.out << '\n';
}

}  // namespace

void add_plan_command(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("plan", "Choose the best strategy (or the one asked for), prove its schedule and write it");
  const auto options = std::make_shared<PlanOptions>();
  add_ranking_options(*command, options->ranking);
  command->add_option("--out", options->out, "Plan file to write")->type_name("FILE")->required();
  command->footer("Example:\n  hsap-plan plan --gpus 16 --strategy usp --degrees 8x2 --out plan.json");
  command->callback([options] { make_and_write(*options); });
}

}  // namespace hsap
