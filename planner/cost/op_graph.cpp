#include "planner/cost/op_graph.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "planner/cost/stuck_ops.hpp"
#include "planner/ir/errors.hpp"
#include "planner/ir/work.hpp"

namespace hsap {

namespace {

std::string place(Phase phase, RankId rank, OpIndex op) {
  return to_string(phase) + ": rank " + std::to_string(rank) + " op " + std::to_string(op);
}

void check_ranks(const Schedule& schedule, const ClusterTopology& cluster) {
  if (schedule.ranks.size() <= cluster.gpus()) return;
  throw InvalidInput("the schedule has " + std::to_string(schedule.ranks.size()) + " ranks, but " + cluster.name() + " has " +
                     std::to_string(cluster.gpus()) + " GPUs; expected at most one rank per GPU");
}

/// Nodes, and the edges inside each rank.
void add_nodes(OpGraph& graph, const Schedule& schedule, Phase phase, const KernelTimes& kernels) {
  for (RankId rank = 0; rank < schedule.ranks.size(); ++rank) {
    const PooledList<Op>& ops = ops_of(schedule.ranks[rank], phase);
    const auto first = static_cast<NodeId>(graph.nodes.size());
    graph.first_node.push_back(first);
    graph.nodes.resize(first + ops.size());
    const auto precede = [&](OpIndex earlier, OpIndex later) {
      graph.nodes[first + earlier].successors.push_back(first + later);
      ++graph.nodes[first + later].predecessors;
    };
    std::vector<std::pair<int, OpIndex>> last_on_stream;
    for (OpIndex index = 0; index < ops.size(); ++index) {
      const Op& op = ops[index];
      OpNode& node = graph.nodes[first + index];
      node.rank = rank;
      node.op = index;
      node.is_exchange = std::holds_alternative<Exchange>(op.body);
      if (!node.is_exchange) node.kernel_seconds = kernels.seconds(schedule, rank, op);
      for (const OpIndex earlier : op.after) {
        if (earlier >= index)
          throw InvalidInput(place(phase, rank, index) + " comes after op " + std::to_string(earlier) +
                             ", expected an earlier op");
        precede(earlier, index);
      }
      const auto stream =
          std::find_if(last_on_stream.begin(), last_on_stream.end(), [&](const auto& s) { return s.first == op.stream; });
      if (stream == last_on_stream.end()) {
        last_on_stream.emplace_back(op.stream, index);
      } else {
        precede(stream->second, index);
        stream->second = index;
      }
    }
  }
  graph.first_node.push_back(static_cast<NodeId>(graph.nodes.size()));
}

/// A node before the first ops of each rank that begins late.
void add_late_beginnings(OpGraph& graph, const std::vector<double>& begins) {
  for (RankId rank = 0; rank < begins.size(); ++rank) {
    if (begins[rank] == 0) continue;
    OpNode until_then;
    until_then.rank = rank;
    until_then.kernel_seconds = begins[rank];
    for (NodeId node = graph.first_node[rank]; node < graph.first_node[rank + 1]; ++node) {
      if (graph.nodes[node].predecessors > 0) continue;
      until_then.successors.push_back(node);
      ++graph.nodes[node].predecessors;
    }
    graph.nodes.push_back(std::move(until_then));
  }
}

/// One end of a message.
struct End {
  RankId from, to;
  NodeId node;
  double bytes;
};

std::pair<RankId, RankId> pair_of(const End& end) { return {end.from, end.to}; }

/// In list order per pair of ranks.
std::vector<End> ends(const OpGraph& graph, const Schedule& schedule, Phase phase, PooledList<Message> Exchange::*list) {
  const bool sends = list == &Exchange::sends;
  std::vector<End> result;
  for (const OpNode& node : graph.nodes) {
    if (!node.is_exchange) continue;
    for (const Message& message : std::get<Exchange>(ops_of(schedule.ranks[node.rank], phase)[node.op].body).*list) {
      if (message.peer >= schedule.ranks.size())
        throw InvalidInput(place(phase, node.rank, node.op) + (sends ? " sends to" : " receives from") + " rank " +
                           std::to_string(message.peer) + ", expected 0 to " + std::to_string(schedule.ranks.size() - 1));
      const RankId from = sends ? node.rank : message.peer;
      const RankId to = sends ? message.peer : node.rank;
      result.push_back({from, to, graph.first_node[node.rank] + node.op, bytes_of(schedule, node.rank, message)});
    }
  }
  std::stable_sort(result.begin(), result.end(), [](const End& a, const End& b) { return pair_of(a) < pair_of(b); });
  return result;
}

/// Pairs up the ends; returns those that have no other end.
std::vector<LoneEnd> match_messages(OpGraph& graph, const Schedule& schedule, Phase phase, const ClusterTopology& cluster) {
  const std::vector<End> sent = ends(graph, schedule, phase, &Exchange::sends);
  const std::vector<End> received = ends(graph, schedule, phase, &Exchange::recvs);
  std::vector<LoneEnd> lone;
  graph.messages.reserve(sent.size());
  const auto add_lone = [&](const LoneEnd& end) {
    lone.push_back(end);
    ++graph.nodes[end.node].lone_messages;
  };
  std::size_t r = 0;
  for (const End& send : sent) {
    for (; r < received.size() && pair_of(received[r]) < pair_of(send); ++r)
      add_lone({received[r].node, received[r].from, false});
    if (r == received.size() || pair_of(received[r]) != pair_of(send)) {
      add_lone({send.node, send.to, true});
      continue;
    }
    const End& receive = received[r++];
    if (send.bytes != receive.bytes)
      throw InvalidInput(place(phase, send.from, graph.nodes[send.node].op) + " sends " +
                         std::to_string(std::llround(send.bytes)) + " bytes to rank " + std::to_string(send.to) +
                         ", whose op " + std::to_string(graph.nodes[receive.node].op) + " expects " +
                         std::to_string(std::llround(receive.bytes)) + "; both ends must list the same parts");
    const auto id = static_cast<MessageId>(graph.messages.size());
    graph.messages.push_back({send.node, receive.node, send.bytes, &cluster.route(send.from, send.to)});
    graph.nodes[send.node].messages.push_back(id);
    graph.nodes[receive.node].messages.push_back(id);
  }
  for (; r < received.size(); ++r) add_lone({received[r].node, received[r].from, false});
  return lone;
}

}  // namespace

OpGraph op_graph(const Schedule& schedule, Phase phase, const ClusterTopology& cluster, const KernelTimes& kernels,
                 const std::vector<double>& begins) {
  check_ranks(schedule, cluster);
  OpGraph graph;
  add_nodes(graph, schedule, phase, kernels);
  const std::vector<LoneEnd> lone = match_messages(graph, schedule, phase, cluster);
  refuse_stuck_ops(graph, schedule, phase, lone);
  add_late_beginnings(graph, begins);
  return graph;
}

PhaseTimeline OpGraph::timeline(const std::vector<OpTime>& time_of_node) const {
  PhaseTimeline result;
  for (std::size_t rank = 0; rank + 1 < first_node.size(); ++rank)
    result.ranks.emplace_back(time_of_node.begin() + first_node[rank], time_of_node.begin() + first_node[rank + 1]);
  return result;
}

}  // namespace hsap
