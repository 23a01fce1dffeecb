// A packing looked at closely: every micro-batch is really planned, by strategy hsap on the ranks of its replica, and its
// schedule handed to a predictor. Milliseconds to seconds per micro-batch, where the step model takes microseconds: it says how
// far the model can be trusted, and decides between packings that the model finds alike.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "planner/cost/estimate.hpp"
#include "planner/ir/schedule.hpp"
#include "planner/packing/packing.hpp"
#include "planner/packing/step_model.hpp"

namespace hsap {

struct PlannedMicroBatch {
  double seconds = 0;  ///< one layer, forward + backward
  Degrees degrees;
  Token most_tokens = 0;         ///< of a rank
  double peak_memory_bytes = 0;  ///< busiest rank, one layer's attention
};

/// [replica][micro-batch]
struct PlannedStep {
  std::vector<std::vector<PlannedMicroBatch>> replicas;

  /// The longest replica: the sum over its micro-batches.
  double seconds() const;
  /// Of any rank in any micro-batch.
  Token most_tokens() const;
  double peak_memory_bytes() const;
};

/// A predictor for schedules on a cluster; what it is given outlives it.
using MakeEvaluator = std::function<Evaluator(const ClusterTopology&, const KernelTimes&)>;

/// Plans micro-batches on the replicas of a mesh. Replicas are alone on the links: they meet at the end of the step only.
class StepPlanner {
 public:
  /// `linear_parameters`: LayerKind's; 0 for attention alone.
  StepPlanner(const StepModel& model, double linear_parameters, const ClusterTopology& cluster, const MakeEvaluator& evaluator);
  ~StepPlanner();

  /// The degrees with the shortest layer by estimate(), of those whose head-parallel groups lie in one node, with the placement
  /// that memory allows (placement_room()); the evaluator then has the last word on its time. Called after each micro-batch:
  /// `done`.
  PlannedStep plan(const StepPacking& packing, const std::vector<Token>& lengths, const std::function<void()>& done = {}) const;

 private:
  struct ReplicaCluster;
  PlannedMicroBatch plan(const ReplicaCluster& replica, const std::vector<Token>& lengths) const;

  AttentionShape shape_;
  bool barrier_;
  Token tokens_per_rank_;
  std::vector<std::unique_ptr<const ReplicaCluster>> replicas_;
};

}  // namespace hsap
