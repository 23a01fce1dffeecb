// The cost model: a whole schedule over an otherwise idle network. Knows the order of ops and how long each takes; of the
// network it knows that an Exchange's own messages share the links they use, and ignores every other contention.
#pragma once

#include <functional>

#include "planner/cost/kernel_times.hpp"
#include "planner/cost/linear_work.hpp"
#include "planner/inputs/cluster_topology.hpp"
#include "planner/ir/schedule.hpp"
#include "planner/ir/timeline.hpp"

namespace hsap {

/// A message starts when both ends have posted it. Linear in ops and messages.
/// Throws InvalidInput when the schedule needs more ranks than the cluster has GPUs, or naming the first ops that wait for
/// ever.
Timeline estimate(const Schedule& schedule, const ClusterTopology& cluster, const KernelTimes& kernels);

/// The same, and backward as it goes in a layer with this linear work.
LayerTimeline estimate_layer(const Schedule& schedule, const LinearWork& work, const ClusterTopology& cluster,
                             const KernelTimes& kernels);

/// Any predictor of a layer; the search is given one by tools/.
using Evaluator = std::function<LayerTimeline(const Schedule&, const LinearWork&)>;

}  // namespace hsap
