#include "sim/platform.hpp"

#include <array>
#include <csignal>
#include <cstdint>
#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <simgrid/s4u.hpp>
#include <string>
#include <unordered_map>

namespace hsap {

namespace {

namespace sg = simgrid::s4u;
using simgrid::kernel::resource::StandardLinkImpl;
namespace routing = simgrid::kernel::routing;

/// A flat zone whose routes are ClusterTopology's. Host i is rank i.
class ClusterZone final : public routing::NetZoneImpl {
 public:
  ClusterZone() : NetZoneImpl("cluster") {}

  void add(const WireMessage& message, RankId from, RankId to, const ClusterTopology& cluster) {
    const auto [entry, is_new] = routes_.try_emplace(key(from, to));
    if (!is_new) return;
    for (const LinkId link : message.route->links) entry->second.push_back(link_of(link, cluster));
  }

 private:
  static std::uint64_t key(std::uint64_t from, std::uint64_t to) { return from << 32 | to; }

  StandardLinkImpl* link_of(LinkId id, const ClusterTopology& cluster) {
    const auto [entry, is_new] = links_.try_emplace(id, nullptr);
    if (is_new) {
      sg::Link* link = create_link(std::to_string(id), {cluster.links()[id].bytes_per_second});
      entry->second = link->set_latency(0)->seal()->get_impl();
    }
    return entry->second;
  }

  void get_local_route(const routing::NetPoint* from, const routing::NetPoint* to, routing::Route* route, double*) override {
    route->link_list_ = routes_.at(key(from->id(), to->id()));
  }
  /// Only SimGrid's graph export asks.
  void get_graph(const s_xbt_graph_t*, std::map<std::string, xbt_node_t, std::less<>>*,
                 std::map<std::string, xbt_edge_t, std::less<>>*) override {}

  std::unordered_map<LinkId, StandardLinkImpl*> links_;
  std::unordered_map<std::uint64_t, std::vector<StandardLinkImpl*>> routes_;
};

/// SimGrid's defaults model TCP over Ethernet. These make it plain max-min sharing of payload bandwidth, exact in time:
/// CM02 without its TCP window bound and without acknowledgements that slow the other direction, times compared to 1e-12 s.
void start_engine() {
  std::array<std::string, 6> arguments{"hsap",
                                       "--log=root.thres:critical",
                                       "--cfg=network/model:CM02",
                                       "--cfg=network/crosstraffic:0",
                                       "--cfg=network/TCP-gamma:1e30",
                                       "--cfg=surf/precision:1e-12"};
  std::array<char*, 7> argv{};
  for (std::size_t i = 0; i < arguments.size(); ++i) argv[i] = arguments[i].data();
  int argc = static_cast<int>(arguments.size());
  static sg::Engine engine(&argc, argv.data());
  std::signal(SIGINT, SIG_DFL);  // SimGrid's own handler prints the state of its actors, of which we have none
}

}  // namespace

std::vector<sg::Host*> create_platform(const OpGraph& graph, const ClusterTopology& cluster) {
  start_engine();
  auto* zone = new ClusterZone;  // SimGrid's from here on
  std::vector<sg::Host*> hosts;
  constexpr double kUnusedSpeed = 1;  // kernels are timers
  for (RankId rank = 0; rank + 1 < graph.first_node.size(); ++rank)
    hosts.push_back(zone->create_host("rank " + std::to_string(rank), {kUnusedSpeed}));
  for (const WireMessage& message : graph.messages)
    zone->add(message, graph.nodes[message.sender].rank, graph.nodes[message.receiver].rank, cluster);
  zone->seal();
  return hosts;
}

}  // namespace hsap
