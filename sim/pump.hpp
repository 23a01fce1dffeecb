// Runs one phase over SimGrid's clock and network.
#pragma once

#include <vector>

#include "planner/cost/op_graph.hpp"
#include "planner/inputs/cluster_topology.hpp"
#include "planner/ir/timeline.hpp"

namespace hsap {

/// Times of every op, by node. Once per process: call it in a child process. Throws BackendFailure when SimGrid stops before
/// all ops have ended.
std::vector<OpTime> pump(const OpGraph& graph, const ClusterTopology& cluster);

}  // namespace hsap
