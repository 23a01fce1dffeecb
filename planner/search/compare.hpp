// Enumerate strategies, degrees and options, evaluate each, rank. The predictor is handed in (Evaluator), so that the planner
// ranks by simulation without knowing the simulator: tools/ wires them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "planner/cost/estimate.hpp"
#include "planner/inputs/cluster_topology.hpp"
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
  std::string reason;  ///< why it is not valid or does not fit; empty otherwise
  double forward_seconds = 0;
  double backward_seconds = 0;
  double exposed_communication_seconds = 0;  ///< forward + backward
  double bytes_sent_busiest_rank = 0;        ///< forward + backward
  double bytes_between_nodes = 0;            ///< forward + backward, all nodes together
  double peak_memory_bytes = 0;              ///< busiest rank, one layer's attention
  double over_bound = 0;                     ///< (forward + backward) / lower bound of its attention kind

  double seconds() const { return forward_seconds + backward_seconds; }
};

struct CompareRequest {
  Problem problem;                      ///< the layer as it is in the model
  std::vector<std::string> strategies;  ///< empty = all
  std::optional<Degrees> degrees;       ///< only these
  StrategyOptions options;              ///< of the strategies that have them; the rest is searched
  bool as_published = false;            ///< strategies whose original code does not look at documents run like it
  bool every_degree = false;            ///< a row for each degrees of a strategy, not only for its best
};

struct Comparison {
  double lower_bound_seconds = 0;  ///< of the model's own attention kind
  /// Best first: those that fit, those that do not, contaminated ones, other attention than the model's, invalid.
  std::vector<Outcome> outcomes;
  std::optional<std::size_t> best;  ///< fastest that is right, fits and serves the model's own attention
};

/// Called as work proceeds: done, total, what is being evaluated.
using Progress = std::function<void(std::size_t, std::size_t, const std::string&)>;

/// estimate() screens the option sets of each strategy and degrees; `evaluator` decides among the best of them, each of which
/// has passed verify() before. A strategy that does not serve softmax is evaluated on the linear counterpart of the layer and
/// never named best, nor is one that contaminates. Throws InvalidInput for unknown strategies, and for options that none of
/// them has.
Comparison compare(const CompareRequest& request, const ClusterTopology& cluster, const KernelTimes& kernels,
                   const Evaluator& evaluator, const Progress& progress = {});

/// Compute bound of the layer, forward + backward: the least matrix FLOPs at the best attained rate, spread evenly over the
/// ranks. No schedule of this problem is faster under the same KernelTimes.
double lower_bound_seconds(const Problem& problem, const KernelTimes& kernels);

/// One rank per GPU of the cluster, in its order.
Problem make_problem(const AttentionShape& shape, const std::vector<Token>& offsets, const ClusterTopology& cluster);

/// The problem as code that does not look at documents sees it: one document of all tokens.
Problem without_documents(Problem problem);

/// The schedule of a valid outcome again.
Schedule lower(const Outcome& outcome, const Problem& problem);

}  // namespace hsap
