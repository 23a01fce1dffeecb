#include "planner/cost/stuck_ops.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "planner/cost/walk.hpp"
#include "planner/ir/errors.hpp"

namespace hsap {

namespace {

/// Everything takes no time.
class DryRun final : private Walk::Machine {
 public:
  explicit DryRun(const OpGraph& graph) : walk_(graph, *this) {
    walk_.start();
    while (!kernels_.empty() || !messages_.empty()) {
      if (!kernels_.empty()) {
        const NodeId node = kernels_.back();
        kernels_.pop_back();
        walk_.kernel_ended(node);
      } else {
        const MessageId message = messages_.back();
        messages_.pop_back();
        walk_.message_ended(message);
      }
    }
  }
  const Walk& walk() const { return walk_; }

 private:
  double now() const override { return 0; }
  void start_kernel(NodeId node) override { kernels_.push_back(node); }
  void start_message(MessageId message) override { messages_.push_back(message); }

  std::vector<NodeId> kernels_;
  std::vector<MessageId> messages_;
  Walk walk_;
};

std::string name_of(const OpGraph& graph, const Schedule& schedule, Phase phase, NodeId node) {
  const OpNode& op = graph.nodes[node];
  return "rank " + std::to_string(op.rank) + " op " + std::to_string(op.op) + " (" +
         kind_name(ops_of(schedule.ranks[op.rank], phase)[op.op].body) + ")";
}

/// What a posted Exchange waits for.
std::string reason(const OpGraph& graph, const Schedule& schedule, Phase phase, const Walk& walk, NodeId node,
                   const std::vector<LoneEnd>& lone) {
  const auto end = std::find_if(lone.begin(), lone.end(), [&](const LoneEnd& e) { return e.node == node; });
  if (end != lone.end())
    return (end->is_send ? "sends to rank " : "receives from rank ") + std::to_string(end->peer) + ", which never " +
           (end->is_send ? "receives it" : "sends it");
  for (const MessageId id : graph.nodes[node].messages) {
    const WireMessage& message = graph.messages[id];
    const NodeId other = message.sender == node ? message.receiver : message.sender;
    if (!walk.posted(other)) return "waits for " + name_of(graph, schedule, phase, other) + ", which waits itself";
  }
  return "waits";
}

}  // namespace

void refuse_stuck_ops(const OpGraph& graph, const Schedule& schedule, Phase phase, const std::vector<LoneEnd>& lone) {
  const DryRun run(graph);
  const Walk& walk = run.walk();
  if (walk.all_ended()) return;
  constexpr int kNamed = 3;
  int named = 0;
  std::size_t waiting = 0;
  std::string text;
  for (NodeId node = 0; node < graph.nodes.size(); ++node) {
    if (walk.ended(node)) continue;
    ++waiting;
    if (!walk.posted(node) || named == kNamed) continue;
    text += (named++ == 0 ? "" : "; ") + name_of(graph, schedule, phase, node) + " " +
            reason(graph, schedule, phase, walk, node, lone);
  }
  throw InvalidInput(to_string(phase) + ": " + std::to_string(waiting) + " of " + std::to_string(graph.nodes.size()) +
                     " ops would wait for ever, first: " + text);
}

}  // namespace hsap
