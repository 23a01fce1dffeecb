// One phase of a schedule as it was predicted: its ops, the messages that link them, and when each op ran. What the parts of an
// Explanation that ask about time start from.
#pragma once

#include <vector>

#include "planner/cost/op_graph.hpp"
#include "planner/inputs/cluster_topology.hpp"
#include "planner/ir/schedule.hpp"
#include "planner/ir/timeline.hpp"

namespace hsap {

/// All that it refers to must outlive it.
struct PhaseRun {
  const Schedule& schedule;
  Phase phase;
  const PhaseTimeline& timeline;
  OpGraph graph;
  double seconds;  ///< until the last op ends

  /// Throws InvalidInput as op_graph() does.
  PhaseRun(const Schedule& schedule, Phase phase, const PhaseTimeline& timeline, const ClusterTopology& cluster,
           const KernelTimes& kernels);

  const Op& op(NodeId node) const;
  const OpTime& time(NodeId node) const;
  NodeId node(RankId rank, OpIndex op) const { return graph.first_node[rank] + op; }
  /// From when both ends have posted it to when the first of their Exchanges is done: it is on its way within that time.
  OpTime time(const WireMessage& message) const;
  /// The end that lists its parts as sent.
  const Message& message(const WireMessage& message) const;
};

/// What a message carries, each role once, in its order.
std::vector<Role> roles_of(const Schedule& schedule, RankId rank, const Message& message);

}  // namespace hsap
