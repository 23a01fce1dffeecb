// What one layer costs in a training step, forward and backward together, in the few numbers from which the time of a
// micro-batch is modelled. All ranks are alike.
#pragma once

#include "planner/cost/kernel_times.hpp"
#include "planner/cost/linear_work.hpp"
#include "planner/inputs/cluster_topology.hpp"
#include "planner/ir/attention_shape.hpp"
#include "planner/placement/layer_costs.hpp"

namespace hsap {

struct StepCosts {
  AttentionShape shape;
  /// Forward + backward: pairs at the best rate, linear work of a token, a token's keys and values once into each rank that
  /// needs them and their gradients back, over the slowest route in a node and the route between two nodes.
  LayerCosts layer;
  double fixed_seconds = 0;  ///< of a micro-batch, however small
  bool barrier = false;      ///< the ranks of a replica wait for each other between attention and linear work

  /// A document alone on one rank. Linear attention: the least work (work.hpp) of its forward, in pairs. O(1)
  double document_seconds(Token length) const;
};

/// `work` may be empty (attention alone). fixed_seconds are those of one token on one rank, by estimate(): launches of kernels.
StepCosts step_costs(const AttentionShape& shape, const LinearWork& work, const ClusterTopology& cluster,
                     const KernelTimes& kernels);

}  // namespace hsap
