// The cluster as SimGrid sees it: one host per rank, the links that the messages of one phase use, and ClusterTopology's
// routes.
#pragma once

#include <simgrid/forward.h>

#include <vector>

#include "planner/cost/op_graph.hpp"
#include "planner/inputs/cluster_topology.hpp"

namespace hsap {

/// Starts SimGrid's engine with the settings of a lossless RDMA network and creates the platform. Once per process (SimGrid's
/// engine is a singleton): call it in a child process only. Links have no latency of their own, see pump.cpp. Both must outlive
/// the engine. Returns the host of each rank.
std::vector<simgrid::s4u::Host*> create_platform(const OpGraph& graph, const ClusterTopology& cluster);

}  // namespace hsap
