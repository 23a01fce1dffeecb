// Enumerate strategies, degrees and options, evaluate each, rank. The predictor is handed in (Evaluator), so that the planner
// ranks by simulation without knowing the simulator: tools/ wires them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "planner/cost/estimate.hpp"
#include "planner/cost/linear_work.hpp"
#include "planner/inputs/cluster_topology.hpp"
#include "planner/search/explanation/time_causes.hpp"
#include "planner/search/lower_bound.hpp"
#include "planner/search/objective.hpp"
#include "planner/strategies/strategy.hpp"

namespace hsap {

/// What a strategy computes beside the mask when it runs as its original code does, which does not look at documents.
struct Contamination {
  std::int64_t wrong_pairs = 0;  ///< (query, key) pairs of different documents that enter the result, per query head
  double wasted_flops = 0;       ///< forward + backward, all ranks: what the schedule that looks at documents does not do
};

/// One row of the comparison: a strategy at given degrees, or a strategy that cannot serve the problem.
struct Outcome {
  std::string strategy;
  AttentionKind attention = AttentionKind::softmax;
  Degrees degrees;
  StrategyOptions options;
  std::optional<Contamination> contamination;  ///< its result is wrong
  bool valid = false;
  bool fits = false;
  std::string reason;          ///< why it is not valid or does not fit; empty otherwise
  double forward_seconds = 0;  ///< of attention with its communication
  double backward_seconds = 0;
  double layer_forward_seconds = 0;  ///< most, over ranks, of attention's end + linear work of the rank's tokens
  double layer_backward_seconds = 0;
  double exposed_communication_seconds = 0;  ///< forward + backward
  double bytes_sent_busiest_rank = 0;        ///< forward + backward
  double bytes_between_nodes = 0;            ///< forward + backward, all nodes together
  double peak_memory_bytes = 0;              ///< busiest rank, one layer's attention
  double communication_buffer_bytes = 0;     ///< of the rank that needs most, part of that memory
  double seconds_for_buffer = 0;  ///< by which faster option sets, that need larger buffers than there are, are faster
                                  ///< (by estimate)
  double over_bound = 0;          ///< seconds of the objective / lower bound of its attention kind

  /// Forward + backward.
  double seconds(Objective objective) const {
    return objective == Objective::layer ? layer_forward_seconds + layer_backward_seconds : forward_seconds + backward_seconds;
  }
};

struct CompareRequest {
  Problem problem;         ///< the layer as it is in the model
  LinearWork linear_work;  ///< beside its attention
  Objective objective = Objective::layer;
  std::vector<std::string> strategies;  ///< empty = all
  std::optional<Degrees> degrees;       ///< only these
  StrategyOptions options;              ///< of the strategies that have them; the rest is searched
  bool as_published = false;            ///< strategies whose original code does not look at documents run like it
  bool every_degree = false;            ///< a row for each degrees of a strategy, not only for its best
};

struct Comparison {
  Objective objective = Objective::layer;
  std::vector<LowerBound> bounds;  ///< of the objective for the model's own attention kind, the one that binds first
  /// Best first: those that fit, those that do not, contaminated ones, other attention than the model's, invalid.
  std::vector<Outcome> outcomes;
  std::optional<std::size_t> best;         ///< fastest that is right, fits and serves the model's own attention
  std::optional<PhaseCauses> best_causes;  ///< of the best one's distance to the compute bound of the objective

  double lower_bound_seconds() const { return bounds.front().seconds; }
};

/// Called as work proceeds: done, total, what is being evaluated.
using Progress = std::function<void(std::size_t, std::size_t, const std::string&)>;

/// estimate() screens the option sets of each strategy and degrees (screening.hpp); `evaluator` decides among the best of them
/// that fit the communication buffers, each of which has passed verify() before. The objective is what both go by. A strategy
/// that does not serve softmax is evaluated on the linear counterpart of the layer and never named best, nor is one that
/// contaminates. Throws InvalidInput for unknown strategies, and for options that none of them has.
Comparison compare(const CompareRequest& request, const ClusterTopology& cluster, const KernelTimes& kernels,
                   const Evaluator& evaluator, const Progress& progress = {});

/// One rank per GPU of the cluster, in its order. Placed by attention alone.
Problem make_problem(const AttentionShape& shape, const std::vector<Token>& offsets, const ClusterTopology& cluster);
/// Placed by attention and `work`.
Problem make_problem(const AttentionShape& shape, const std::vector<Token>& offsets, const ClusterTopology& cluster,
                     const LinearWork& work, const KernelTimes& kernels);

/// The problem as code that does not look at documents sees it: one document of all tokens.
Problem without_documents(Problem problem);

/// The schedule of a valid outcome again.
Schedule lower(const Outcome& outcome, const Problem& problem);

/// `schedule` as its strategy places it without a cap on the tokens of a rank; nullopt where there is none. `options` are those
/// it was made with, `problem` what it serves. @pre `schedule` was lowered from them
std::optional<Schedule> without_token_cap(const Schedule& schedule, const StrategyOptions& options, const Problem& problem);

}  // namespace hsap
