#include "planner/search/explanation/phase_run.hpp"

#include <algorithm>

namespace hsap {

PhaseRun::PhaseRun(const Schedule& of, Phase which, const PhaseTimeline& times, const ClusterTopology& cluster,
                   const KernelTimes& kernels)
    : schedule(of), phase(which), timeline(times), graph(op_graph(of, which, cluster, kernels)), seconds(timeline.seconds()) {}

const Op& PhaseRun::op(NodeId node) const {
  return ops_of(schedule.ranks[graph.nodes[node].rank], phase)[graph.nodes[node].op];
}

const OpTime& PhaseRun::time(NodeId node) const { return timeline.ranks[graph.nodes[node].rank][graph.nodes[node].op]; }

OpTime PhaseRun::time(const WireMessage& message) const {
  const OpTime& sender = time(message.sender);
  const OpTime& receiver = time(message.receiver);
  return {std::max(sender.begin, receiver.begin), std::min(sender.end, receiver.end)};
}

const Message& PhaseRun::message(const WireMessage& message) const {
  const PooledList<Message>& sends = std::get<Exchange>(op(message.sender).body).sends;
  const RankId receiver = graph.nodes[message.receiver].rank;
  return *std::find_if(sends.begin(), sends.end(), [&](const Message& sent) { return sent.peer == receiver; });
}

std::vector<Role> roles_of(const Schedule& schedule, RankId rank, const Message& message) {
  std::vector<Role> roles;
  for (const Slice& part : message.parts)
    if (const Role role = schedule.buffer(rank, part.buffer).role; std::find(roles.begin(), roles.end(), role) == roles.end())
      roles.push_back(role);
  return roles;
}

}  // namespace hsap
