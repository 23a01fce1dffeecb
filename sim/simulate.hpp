// The simulator: a whole schedule over shared links, with SimGrid's flow-level network (max-min fair sharing).
// Same signature as estimate(), same answer on an idle network.
#pragma once

#include "planner/cost/kernel_times.hpp"
#include "planner/cost/linear_work.hpp"
#include "planner/inputs/cluster_topology.hpp"
#include "planner/ir/schedule.hpp"
#include "planner/ir/timeline.hpp"

namespace hsap {

/// Messages start when both ends have posted them and share links max-min fairly, whatever their latencies.
/// Runs SimGrid (one engine per process) in a child process, so it may be called any number of times. Blocks until done.
/// Throws InvalidInput naming the first ops that wait when a message never matches or the run ends before all ops did;
/// BackendFailure when the child dies.
Timeline simulate(const Schedule& schedule, const ClusterTopology& cluster, const KernelTimes& kernels);

/// One phase of it.
PhaseTimeline simulate(const Schedule& schedule, Phase phase, const ClusterTopology& cluster, const KernelTimes& kernels);

/// Both phases, and backward as it goes in a layer with this linear work.
LayerTimeline simulate_layer(const Schedule& schedule, const LinearWork& work, const ClusterTopology& cluster,
                             const KernelTimes& kernels);

}  // namespace hsap
