// Without actors: a Comm is created when its message may start, and its completion lets the next ops start. (SimGrid 3.32
// searches a list of all living activities at each completion, so building the whole graph of Comms ahead is quadratic.)
#include "sim/pump.hpp"

#include <cstdint>
#include <map>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u.hpp>
#include <string>

#include "planner/cost/walk.hpp"
#include "planner/ir/errors.hpp"
#include "sim/platform.hpp"

namespace hsap {

namespace {

namespace sg = simgrid::s4u;
using simgrid::kernel::timer::Timer;

class Pump final : private Walk::Machine {
 public:
  Pump(const OpGraph& graph, const ClusterTopology& cluster)
      : graph_(graph), hosts_(create_platform(graph, cluster)), walk_(graph, *this) {
    sg::Activity::on_completion_cb([this](const sg::Activity& activity) { ended(static_cast<const sg::Comm&>(activity)); });
  }

  std::vector<OpTime> run() {
    walk_.start();
    sg::Engine::get_instance()->run();
    if (!walk_.all_ended()) throw BackendFailure("simgrid::s4u::Engine::run", "it returned before all ops had ended");
    return walk_.times();
  }

 private:
  double now() const override { return sg::Engine::get_clock(); }

  void start_kernel(NodeId node) override { at(now() + graph_.nodes[node].kernel_seconds, {Due::Kind::kernel_end, node}); }

  /// The latency passes on a timer. If links had it, SimGrid would give flows shares inversely proportional to their latencies.
  void start_message(MessageId message) override {
    at(now() + graph_.messages[message].route->latency_seconds, {Due::Kind::transfer_start, message});
  }

  /// What a timer sets off.
  struct Due {
    enum class Kind { kernel_end, transfer_start } kind;
    std::uint32_t id;
  };

  /// One SimGrid timer per date, since those of one date fire in no particular order.
  void at(double date, Due due) {
    const auto [entry, is_new] = agenda_.try_emplace(date);
    entry->second.push_back(due);
    if (is_new) Timer::set(date, [this, date] { fire(date); });
  }

  void fire(double date) {
    const auto entry = agenda_.extract(date);
    for (const Due due : entry.mapped()) {
      if (due.kind == Due::Kind::kernel_end)
        walk_.kernel_ended(due.id);
      else if (graph_.messages[due.id].bytes == 0 || graph_.messages[due.id].route->links.empty())
        walk_.message_ended(due.id);
      else
        transfer(due.id);
    }
  }

  void transfer(MessageId id) {
    const WireMessage& message = graph_.messages[id];
    sg::CommPtr comm =
        sg::Comm::sendto_init(hosts_[graph_.nodes[message.sender].rank], hosts_[graph_.nodes[message.receiver].rank]);
    comm->set_payload_size(static_cast<std::uint64_t>(message.bytes));  // bytes are whole, and a double holds them exactly
    comm->set_data(reinterpret_cast<void*>(static_cast<std::uintptr_t>(id)));
    comm->add_ref();
    comm->start();
  }

  void ended(const sg::Comm& comm) {
    const auto id = static_cast<MessageId>(reinterpret_cast<std::uintptr_t>(comm.get_data<void>()));
    // Takes over the reference of transfer(). SimGrid still touches the Comm after this call, so it is freed at the next.
    last_ended_ = sg::CommPtr(const_cast<sg::Comm*>(&comm), false);
    walk_.message_ended(id);
  }

  const OpGraph& graph_;
  std::vector<sg::Host*> hosts_;
  Walk walk_;
  std::map<double, std::vector<Due>> agenda_;
  sg::CommPtr last_ended_;
};

}  // namespace

std::vector<OpTime> pump(const OpGraph& graph, const ClusterTopology& cluster) {
  // Never destroyed: SimGrid keeps callbacks to it until the process ends.
  auto* pump = new Pump(graph, cluster);
  return pump->run();
}

}  // namespace hsap
