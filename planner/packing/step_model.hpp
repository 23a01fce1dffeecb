// The modelled time of a step: closed form, microseconds per micro-batch, so that packings can be searched.
//
// A micro-batch on the R ranks of a replica is placed by cost (place_cost_cut), which meets the mean cost of a rank closely and
// cuts only documents that are too long or too costly for one rank. Its time is taken to be what such plans cannot get below
// (planner/placement/bounds):
//
//   t = fixed + max( (attention + linear) / R ,                  work at the best rates, evenly spread
//                    linear / R + keys into ranks or nodes / links / R ,     communication hides behind attention only
//                    keys that the rank, the node with the last row of the longest document receives / links )
//
// with the least keys that plans of whole rows move under a rank's caps on tokens and cost (bounds/row_atomic_volume.hpp,
// bounds/topology.hpp: our derivation). Keys are counted for causal layers without window or blocks only. A replica's step is
// the sum over its micro-batches, the step of all replicas the longest of these: with gradient accumulation they meet at its
// end. Under the model two micro-batches are never slower as one while memory does not ask for a tighter placement: each term
// is at most the sum of theirs, since the caps of the union are no smaller. So as few as memory allows are run, or as few as
// leave the placement room (roomy_capacity()). Left out: short kernels below their best rate, cuts of whole rows, contention,
// the optimizer and the sum of gradients at the end, which depend little on the packing.
#pragma once

#include <cstddef>
#include <vector>

#include "planner/packing/packing.hpp"
#include "planner/packing/step_costs.hpp"

namespace hsap {

/// Ranks in replicas of equal size; replica r has the ranks r x ranks .. (r + 1) x ranks - 1.
struct Mesh {
  int replicas = 1;
  int ranks = 1;  ///< of a replica
  /// [replica] most ranks that share a node.
  std::vector<int> ranks_per_node = {};
};
/// Throws InvalidInput unless `replicas` divides the GPUs of the cluster, naming the numbers that do.
Mesh make_mesh(const ClusterTopology& cluster, int replicas);
/// Ascending numbers of replicas that divide the GPUs.
std::vector<int> possible_replicas(const ClusterTopology& cluster);

class StepModel {
 public:
  /// `tokens_per_rank`: most that a rank holds of a micro-batch. Throws InvalidInput when that is below 1 or above a trillion.
  StepModel(StepCosts costs, Mesh mesh, Token tokens_per_rank);

  const StepCosts& costs() const { return costs_; }
  const Mesh& mesh() const { return mesh_; }
  Token tokens_per_rank() const { return tokens_per_rank_; }
  /// Most tokens of a micro-batch.
  Token capacity() const { return tokens_per_rank_ * mesh_.ranks; }
  /// Tokens up to which micro-batches are filled so that ranks may hold different numbers of them: a full one leaves the
  /// placement no choice but to cut every document into equal shares, which costs several percent in short kernels. All of the
  /// capacity where a replica is one rank.
  Token roomy_capacity() const;

  /// 0 without documents. O(documents), and a square root for each cut that the caps force.
  double micro_batch_seconds(std::size_t replica, const std::vector<Token>& lengths) const;
  /// [replica] sum over its micro-batches.
  std::vector<double> replica_seconds(const StepPacking& packing, const std::vector<Token>& lengths) const;
  /// The longest replica.
  double step_seconds(const StepPacking& packing, const std::vector<Token>& lengths) const;

 private:
  StepCosts costs_;
  Mesh mesh_;
  Token tokens_per_rank_;
};

/// How a micro-batch is placed so that no rank holds more than `tokens_per_rank`: a law of strategy hsap and the cap on tokens,
/// in means, that it keeps to; the loosest cap that fits, since it costs least.
struct PlacementRoom {
  const char* law;
  double token_cap;
};
/// @pre tokens <= tokens_per_rank x ranks
PlacementRoom placement_room(Token tokens, int ranks, Token tokens_per_rank, bool barrier);

}  // namespace hsap
