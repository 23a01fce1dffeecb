#include "planner/cost/estimate.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "planner/cost/fair_queue.hpp"
#include "planner/cost/op_graph.hpp"
#include "planner/cost/walk.hpp"

namespace hsap {

namespace {

using QueueId = std::uint32_t;
constexpr double kNever = std::numeric_limits<double>::infinity();

/// For each Exchange, a fair queue per link that several of its messages use.
struct SharedLinks {
  std::vector<FairQueue> queues;
  std::vector<std::vector<QueueId>> of_message;
};

SharedLinks shared_links(const OpGraph& graph, const ClusterTopology& cluster) {
  SharedLinks shared;
  shared.of_message.resize(graph.messages.size());
  std::vector<std::pair<LinkId, MessageId>> uses;
  for (const OpNode& node : graph.nodes) {
    uses.clear();
    for (const MessageId message : node.messages)
      for (const LinkId link : graph.messages[message].route->links) uses.emplace_back(link, message);
    std::sort(uses.begin(), uses.end());
    for (auto group = uses.begin(); group != uses.end();) {
      const auto end = std::find_if(group, uses.end(), [&](const auto& use) { return use.first != group->first; });
      if (end - group > 1) {
        for (auto use = group; use != end; ++use)
          shared.of_message[use->second].push_back(static_cast<QueueId>(shared.queues.size()));
        shared.queues.emplace_back(cluster.links()[group->first].bytes_per_second);
      }
      group = end;
    }
  }
  return shared;
}

/// The clock of a phase: what ends next.
class Estimator final : private Walk::Machine {
 public:
  Estimator(const OpGraph& graph, const ClusterTopology& cluster)
      : graph_(graph),
        shared_(shared_links(graph, cluster)),
        wake_(shared_.queues.size(), kNever),
        open_(graph.messages.size()),
        walk_(graph, *this) {}

  PhaseTimeline run() {
    walk_.start();
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      now_ = std::max(now_, event.time);  // rounding may put a departure a hair before the arrival that moved it
      handle(event);
    }
    return graph_.timeline(walk_.times());
  }

 private:
  enum class Kind : std::uint8_t { kernel_end, arrival, transfer_end, departure };
  struct Event {
    double time;
    std::uint64_t order;  // of being scheduled: equal times are handled in that order
    Kind kind;
    std::uint32_t id;  // node, message or queue
    bool operator<(const Event& other) const { return time != other.time ? time > other.time : order > other.order; }
  };

  double now() const override { return now_; }
  void start_kernel(NodeId node) override { schedule(now_ + graph_.nodes[node].kernel_seconds, Kind::kernel_end, node); }
  void start_message(MessageId message) override {
    schedule(now_ + graph_.messages[message].route->latency_seconds, Kind::arrival, message);
  }

  void schedule(double time, Kind kind, std::uint32_t id) { events_.push({time, ++order_, kind, id}); }

  /// Makes sure that the queue is looked at when its next message leaves, or before.
  void wake_for_departure(QueueId queue) {
    const double departure = shared_.queues[queue].next_departure();
    if (departure >= wake_[queue]) return;
    wake_[queue] = departure;
    schedule(departure, Kind::departure, queue);
  }

  void handle(const Event& event) {
    switch (event.kind) {
      case Kind::kernel_end:
        walk_.kernel_ended(event.id);
        break;
      case Kind::arrival:
        arrive(event.id);
        break;
      case Kind::transfer_end:
        pass(event.id);
        break;
      case Kind::departure:
        if (event.time == wake_[event.id]) depart(event.id);  // else it was put forward
    }
  }

  /// Latency has passed: the message is on all its links at once.
  void arrive(MessageId id) {
    const WireMessage& message = graph_.messages[id];
    open_[id] = 1;
    schedule(now_ + message.bytes / message.route->bytes_per_second, Kind::transfer_end, id);
    if (message.bytes == 0) return;
    for (const QueueId queue : shared_.of_message[id]) {
      ++open_[id];
      shared_.queues[queue].arrive(now_, id, message.bytes);
      wake_for_departure(queue);
    }
  }

  void depart(QueueId queue) {
    wake_[queue] = kNever;
    std::vector<MessageId> left;
    if (shared_.queues[queue].next_departure() <= now_) shared_.queues[queue].depart(left);  // else arrivals have put it off
    wake_for_departure(queue);
    for (const MessageId message : left) pass(message);
  }

  /// One of the message's links has carried it all.
  void pass(MessageId message) {
    if (--open_[message] == 0) walk_.message_ended(message);
  }

  const OpGraph& graph_;
  SharedLinks shared_;
  std::vector<double> wake_;         // when each queue is looked at next
  std::vector<std::uint32_t> open_;  // links that have not carried all of the message yet
  Walk walk_;
  std::priority_queue<Event> events_;
  std::uint64_t order_ = 0;
  double now_ = 0;
};

}  // namespace

namespace {

PhaseTimeline estimate_phase(const Schedule& schedule, Phase phase, const ClusterTopology& cluster, const KernelTimes& kernels,
                             const std::vector<double>& begins = {}) {
  const OpGraph graph = op_graph(schedule, phase, cluster, kernels, begins);
  return Estimator(graph, cluster).run();
}

}  // namespace

Timeline estimate(const Schedule& schedule, const ClusterTopology& cluster, const KernelTimes& kernels) {
  return {estimate_phase(schedule, Phase::forward, cluster, kernels),
          estimate_phase(schedule, Phase::backward, cluster, kernels)};
}

LayerTimeline estimate_layer(const Schedule& schedule, const LinearWork& work, const ClusterTopology& cluster,
                             const KernelTimes& kernels) {
  Timeline attention = estimate(schedule, cluster, kernels);
  const std::vector<double> begins = attention_begins(schedule, work);
  if (const std::optional<double> together = common_begin(begins)) return begun_together(std::move(attention), *together);
  return {std::move(attention), estimate_phase(schedule, Phase::backward, cluster, kernels, begins)};
}

}  // namespace hsap
