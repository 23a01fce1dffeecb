// The rules by which time passes over an OpGraph: an op is posted when all before it have ended, a message starts when both its
// Exchanges are posted, an Exchange ends with its last message. The clock is somebody else's (Machine): an event queue in
// estimate(), SimGrid in simulate().
#pragma once

#include <cstdint>
#include <vector>

#include "planner/cost/op_graph.hpp"

namespace hsap {

class Walk {
 public:
  /// Runs kernels and moves bytes. Each start_... must be answered by one call of ..._ended later, never from inside start_...
  /// itself.
  class Machine {
   public:
    virtual double now() const = 0;
    virtual void start_kernel(NodeId node) = 0;
    virtual void start_message(MessageId message) = 0;

   protected:
    ~Machine() = default;
  };

  /// Both must outlive the walk.
  Walk(const OpGraph& graph, Machine& machine);

  /// Posts all ops that wait for none. Call once.
  void start();
  void kernel_ended(NodeId node);
  void message_ended(MessageId message);

  bool posted(NodeId node) const { return missing_[node] == 0; }
  bool ended(NodeId node) const { return open_[node] == 0; }
  bool all_ended() const { return ended_ == graph_.nodes.size(); }
  const std::vector<OpTime>& times() const { return times_; }

 private:
  void post_ready();
  void close(NodeId node);

  const OpGraph& graph_;
  Machine& machine_;
  std::vector<OpTime> times_;
  std::vector<std::uint32_t> missing_;     // predecessors that have not ended
  std::vector<std::uint32_t> open_;        // what must still end inside the op: its kernel or posting, its messages
  std::vector<std::uint8_t> posted_ends_;  // of a message
  std::vector<NodeId> ready_;
  std::size_t ended_ = 0;
};

}  // namespace hsap
