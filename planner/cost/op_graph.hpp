// One phase of a Schedule as a predictor sees it: ops with what must end before them, messages with both their ends, kernel
// seconds and routes. estimate() and simulate() both start from it, so they differ in nothing but how long a message takes.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/cost/kernel_times.hpp"
#include "planner/inputs/cluster_topology.hpp"
#include "planner/ir/schedule.hpp"
#include "planner/ir/timeline.hpp"

namespace hsap {

using NodeId = std::uint32_t;     ///< an op of any rank: OpGraph::first_node[rank] + op id
using MessageId = std::uint32_t;  ///< index into OpGraph::messages

struct OpNode {
  RankId rank = 0;
  OpIndex op = 0;
  bool is_exchange = false;
  double kernel_seconds = 0;        ///< of a compute op
  std::uint32_t predecessors = 0;   ///< entries of other nodes' successors that name this one
  std::vector<NodeId> successors;   ///< same rank: next on the stream, and by `after`
  std::vector<MessageId> messages;  ///< of an Exchange: sent and received
  std::uint32_t lone_messages = 0;  ///< of an Exchange: whose other end does not exist
};

struct WireMessage {
  NodeId sender = 0;  ///< the two Exchanges that must have been posted before it starts
  NodeId receiver = 0;
  double bytes = 0;
  const Route* route = nullptr;  ///< owned by the cluster
};

struct OpGraph {
  /// Rank by rank, in list order; after them one for each rank that begins late, which takes the time until it does.
  std::vector<OpNode> nodes;
  std::vector<NodeId> first_node;  ///< by rank, and where the ops of the last rank end
  std::vector<WireMessage> messages;

  /// The same times, by rank and op.
  PhaseTimeline timeline(const std::vector<OpTime>& time_of_node) const;
};

/// Matches messages in list order per pair of ranks. `begins`: seconds [rank] before which none of its ops begins; empty: 0.
/// `cluster` must outlive the result.
/// Throws InvalidInput when the schedule has more ranks than the cluster GPUs, names a rank or op that does not exist, has a
/// message whose two ends differ in bytes, or has ops that would wait for ever: their number and the first of them with what
/// they wait for.
OpGraph op_graph(const Schedule& schedule, Phase phase, const ClusterTopology& cluster, const KernelTimes& kernels,
                 const std::vector<double>& begins = {});

}  // namespace hsap
