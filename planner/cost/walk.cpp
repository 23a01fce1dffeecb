#include "planner/cost/walk.hpp"

namespace hsap {

Walk::Walk(const OpGraph& graph, Machine& machine)
    : graph_(graph),
      machine_(machine),
      times_(graph.nodes.size()),
      missing_(graph.nodes.size()),
      open_(graph.nodes.size()),
      posted_ends_(graph.messages.size(), 0) {
  for (NodeId node = 0; node < graph.nodes.size(); ++node) {
    missing_[node] = graph.nodes[node].predecessors;
    open_[node] = 1 + static_cast<std::uint32_t>(graph.nodes[node].messages.size()) + graph.nodes[node].lone_messages;
  }
}

void Walk::start() {
  for (NodeId node = 0; node < graph_.nodes.size(); ++node)
    if (missing_[node] == 0) ready_.push_back(node);
  post_ready();
}

void Walk::kernel_ended(NodeId node) {
  close(node);
  post_ready();
}

void Walk::message_ended(MessageId message) {
  close(graph_.messages[message].sender);
  close(graph_.messages[message].receiver);
  post_ready();
}

void Walk::post_ready() {
  while (!ready_.empty()) {
    const NodeId node = ready_.back();
    ready_.pop_back();
    times_[node].begin = machine_.now();
    if (!graph_.nodes[node].is_exchange) {
      machine_.start_kernel(node);
      continue;
    }
    for (const MessageId message : graph_.nodes[node].messages)
      if (++posted_ends_[message] == 2) machine_.start_message(message);
    close(node);
  }
}

void Walk::close(NodeId node) {
  if (--open_[node] > 0) return;
  ++ended_;
  times_[node].end = machine_.now();
  for (const NodeId next : graph_.nodes[node].successors)
    if (--missing_[next] == 0) ready_.push_back(next);
}

}  // namespace hsap
