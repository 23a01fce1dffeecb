// The search as `compare` and `plan` run it: which strategies, which degrees, ranked by which predictor.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "planner/search/compare.hpp"
#include "tools/plan/evaluators.hpp"
#include "tools/planning_inputs.hpp"

namespace CLI {
class App;
}

namespace hsap {

struct RankingOptions {
  InputOptions inputs;
  std::vector<std::string> strategies;                  ///< empty = all
  std::string degrees;                                  ///< "8x2", or empty = all that fit
  std::map<std::string, std::string> strategy_options;  ///< by name (strategy_options.hpp), as text
  bool ragged_heads = false;
  bool as_published = false;
  bool every_degree = false;
  std::string evaluator = kDefaultEvaluator;
  std::string objective = to_string(Objective::layer);
  bool barrier = false;
  std::string buffer;  ///< bytes as text, "2 GiB"; empty: no limit
};
/// The options of the inputs, --strategy, --degrees, --evaluator, --objective, --barrier, --buffer, --as-published,
/// --ragged-heads and those of strategies.
void add_ranking_options(CLI::App& command, RankingOptions& options);

struct Ranking {
  Problem problem;
  Comparison comparison;
  std::optional<double> linear_parameters;  ///< of the layer; none: its layer times are those of attention
  std::string kernel_provenance;
};
/// Throws InvalidInput for strategies, degrees and objectives that no input could make right; call it before reading inputs.
void check_options(const RankingOptions& options);
/// Shows progress on standard error when that is a terminal and it takes long. Throws InvalidInput when a layer's time is
/// ranked and the model does not tell its linear work.
Ranking rank_strategies(const PlanningInputs& inputs, const RankingOptions& options);

/// Linear work of the layer. None when attention alone is ranked and the model does not tell it; throws InvalidInput when a
/// layer is and it does not.
LinearWork linear_work_of(const LayerKind& layer, Objective objective, const ClusterTopology& cluster,
                          const KernelTimes& kernels);

/// "1.50 GiB of communication buffers of 2.00 GiB; larger ones would save 1.2 ms (estimate)". @pre the outcome is valid
std::string buffer_text(const Ranking& ranking, const Outcome& outcome);
/// "usp: degrees 5x1 need 5 ranks, ..." or "ring 1x2: needs 120 GiB of ...": why an outcome is refused or does not fit.
std::string named_reason(const Outcome& outcome);
/// "contaminates: 1,234 (query, key) pairs per head reach into other documents, 5.6 TFLOP are wasted". @pre it does
std::string contamination_text(const Outcome& outcome);

}  // namespace hsap
