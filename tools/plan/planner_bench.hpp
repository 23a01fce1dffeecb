// How long hsap plans a batch, and how good the placement is, by the evaluator with which other planners were compared: one
// Llama-3-8B layer, nodes of eight ranks (planner/placement/layer_costs.hpp, measures/).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planner/placement/bounds/layer_bound.hpp"
#include "planner/placement/measures/layer_seconds.hpp"
#include "tools/plan/bench_instances.hpp"
#include "tools/plan/bench_peers.hpp"
#include "tools/plan/bench_simulation.hpp"

namespace hsap {

struct PlannerBenchRules {
  double token_cap = 1.25;
  /// Of lowered schedules: the exchange, always given, and its stages, 0 for hsap's own default.
  StrategyOptions exchange = {.exchange = KvRoute::hierarchical};
  bool simulate = false;  ///< takes as much as a minute for an instance on hundreds of ranks
};

/// One instance on one number of ranks.
struct PlannerRun {
  std::string instance;
  Token tokens = 0;
  std::size_t documents = 0;
  int ranks = 0;

  double placement_seconds = 0;  ///< one thread, best of a few
  double lowering_seconds = 0;   ///< all of hsap 1xP: that placement, exchange and programs of all ranks; the same
  Traffic traffic;
  bool within_cap = false;  ///< no rank holds more than token cap x tokens / ranks
  double direct_seconds = 0;
  double hierarchical_seconds = 0;
  std::optional<double> simulated_seconds;  ///< bench_simulation.hpp; nullopt when it was not asked for
  LayerBound bound;

  double direct_over_bound() const { return direct_seconds / bound.compute_seconds; }
  double hierarchical_over_bound() const { return hierarchical_seconds / bound.compute_seconds; }
  std::optional<double> simulated_over_bound() const;
  double cost_over_mean() const { return traffic.cost_over_mean(kLlama3Layer.pairs_per_token()); }
  /// Keys received over the bound of plans of whole rows; nullopt where the bound is 0.
  std::optional<double> over_row_atomic() const;
  std::optional<double> over_coupled() const;
};
PlannerRun run_planner(const BenchInstance& instance, int ranks, const PlannerBenchRules& rules);

/// Runs and what others achieved on the same instances and ranks.
struct PlannerBench {
  std::string folder;
  PlannerBenchRules rules;
  std::vector<int> ranks;
  std::vector<PlannerRun> runs;  ///< by ranks, then in the order of the index
  std::vector<PeerResult> peers;

  std::vector<const PlannerRun*> runs_on(int ranks) const;
  /// All others' results that belong to the run.
  std::vector<const PeerResult*> peers_of(const PlannerRun& run) const;
  /// The one that comes nearest to the bound, prototypes of hsap aside; of equal ones the quickest. nullptr when there is none.
  const PeerResult* best_peer(const PlannerRun& run) const;
};

/// Median and largest of some values.
struct Spread {
  std::size_t values = 0;  ///< how many; >= 1
  double median = 0;
  double largest = 0;
};
/// nullopt without values. The median of an even number of values is the mean of the middle two.
std::optional<Spread> spread_of(std::vector<double> values);

/// A planner over several instances.
struct PlannerSummary {
  std::string planner;
  std::size_t instances = 0;
  std::optional<Spread> planning_seconds;
  std::optional<Spread> direct_over_bound;
  std::optional<Spread> hierarchical_over_bound;
  std::optional<Spread> simulated_over_bound;  ///< of hsap only
};
/// hsap first, then the others on the same instances by name.
std::vector<PlannerSummary> summaries(const PlannerBench& bench, int ranks);

}  // namespace hsap
