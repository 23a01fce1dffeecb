// The packing of global batches as `pack` runs it: what is asked for, what comes out, and the figures that reports show of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "planner/packing/pack_search.hpp"
#include "planner/packing/token_room.hpp"
#include "planner/search/objective.hpp"
#include "tools/plan/global_batches.hpp"
#include "tools/planning_inputs.hpp"

namespace CLI {
class App;
}

namespace hsap {

struct PackOptions {
  InputOptions inputs;
  std::size_t batches = 1;
  std::optional<int> replicas;           ///< nullopt = every number that divides the GPUs
  std::optional<Token> tokens_per_rank;  ///< nullopt = by the memory of a GPU
  std::string evaluator = "estimate";    ///< or simulate, none
  std::string objective = to_string(Objective::layer);
  bool barrier = false;
};
void add_pack_options(CLI::App& command, PackOptions& options);

struct PackRun {
  ChosenCluster cluster;
  ChosenLayer layer;
  GlobalBatches batches;
  StepCosts costs;
  PackResult result;
  std::string kernel_provenance;

  /// The lines "cluster", "layer", "batches", "note" of a report.
  std::string description(std::uint64_t seed) const;
  const MeshResult& chosen() const { return result.meshes[*result.chosen]; }
};

/// Shows progress on standard error when that is a terminal and it takes long. Throws InvalidInput when no mesh works: the
/// reason of the first one.
PackRun run_packing(const PackOptions& options);

/// What one micro-batch, or one replica, or one rank holds and costs.
struct Share {
  std::size_t documents = 0;
  Token tokens = 0;
  Token longest = 0;
  std::int64_t pairs = 0;  ///< (query, key) pairs of the mask
  double cost = 0;         ///< seconds of its documents on one rank

  Share& operator+=(const Share& other);
};
Share share_of(const MicroBatch& micro_batch, const std::vector<Token>& lengths, const StepCosts& costs);
Share share_of(const Replica& replica, const std::vector<Token>& lengths, const StepCosts& costs);

/// Of replicas, the largest over the mean; the mean over the batches.
struct Balance {
  double cost = 1;
  double tokens = 1;
};
Balance balance_of(const std::vector<PackedStep>& steps, const PackRun& run);
/// Most micro-batches of a replica in a step.
std::size_t most_micro_batches(const std::vector<PackedStep>& steps);
/// How much longer first-fit takes: 0.1 is 10 %.
double gain_over(double first_fit_seconds, double seconds);

}  // namespace hsap
