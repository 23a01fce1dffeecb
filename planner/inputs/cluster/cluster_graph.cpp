#include "planner/inputs/cluster/cluster_graph.hpp"

#include <algorithm>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>

namespace hsap {
namespace {

std::string gpu_name(const ClusterDescription& cluster, std::size_t gpu) {
  return "node" + std::to_string(gpu / cluster.gpus_per_node) + "/gpu" + std::to_string(gpu % cluster.gpus_per_node);
}

const char* island_name(IslandKind kind) {
  switch (kind) {
    case IslandKind::nvlink:
      return "nvswitch";
    case IslandKind::pcie:
      return "pcie";
    case IslandKind::plain:
      break;
  }
  return "switch";
}

std::int64_t in_femtoseconds(double seconds) { return std::llround(seconds * 1e15); }

}  // namespace

ClusterGraph::ClusterGraph(const ClusterDescription& cluster) : ways_(cluster.gpus()) {
  add_islands(cluster);
  if (cluster.network) add_network(cluster);
  trees_ = std::vector<Tree>(num_vertices(switches_));
}

ClusterGraph::Vertex ClusterGraph::add_switch(const std::string& name) {
  switch_names_.push_back(name);
  return static_cast<Vertex>(add_vertex(switches_));
}

LinkId ClusterGraph::add_link(const std::string& from, const std::string& to, const Wire& wire) {
  links_.push_back({from + " -> " + to, wire.bytes_per_second, wire.latency_seconds});
  link_source_.push_back(0);
  return static_cast<LinkId>(links_.size() - 1);
}

void ClusterGraph::connect(Vertex a, Vertex b, const Wire& wire) {
  for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)}) {
    const LinkId link = add_link(switch_names_[from], switch_names_[to], wire);
    link_source_[link] = from;
    add_edge(from, to, link, switches_);
  }
}

void ClusterGraph::add_islands(const ClusterDescription& cluster) {
  for (std::size_t i = 0; i < cluster.gpus() / cluster.island_gpus; ++i) {
    islands_.push_back(add_switch(island_name(cluster.island_kind) + std::to_string(i)));
  }
  // Half of the latency on each port, so that GPU to GPU takes exactly what the file says.
  const Wire port{cluster.island_port.bytes_per_second, cluster.island_port.latency_seconds / 2};
  for (std::size_t gpu = 0; gpu < cluster.gpus(); ++gpu) {
    const Vertex island = islands_[gpu / cluster.island_gpus];
    ways_[gpu].out.push_back({island, {add_link(gpu_name(cluster, gpu), switch_names_[island], port)}});
    ways_[gpu].in.push_back({island, {add_link(switch_names_[island], gpu_name(cluster, gpu), port)}});
  }
  if (!cluster.between_islands) return;
  const std::size_t per_node = cluster.gpus_per_node / cluster.island_gpus;
  for (std::size_t first = 0; first < islands_.size(); first += per_node) {
    for (std::size_t a = first; a < first + per_node; ++a) {
      for (std::size_t b = a + 1; b < first + per_node; ++b) connect(islands_[a], islands_[b], *cluster.between_islands);
    }
  }
}

void ClusterGraph::add_network(const ClusterDescription& cluster) {
  const NetworkDescription& network = *cluster.network;
  const std::size_t nics = cluster.nic_serves.size();
  const bool rails = network.shape == NetworkShape::rail_optimised;
  const std::size_t leaves_per_pod = rails ? nics : 1;
  const std::size_t pods = (cluster.nodes + network.nodes_per_leaf - 1) / network.nodes_per_leaf;

  std::vector<Vertex> leaves;
  for (std::size_t leaf = 0; leaf < pods * leaves_per_pod; ++leaf) {
    leaves.push_back(
        add_switch("pod" + std::to_string(leaf / leaves_per_pod) + "/leaf" + std::to_string(leaf % leaves_per_pod)));
  }
  for (std::size_t node = 0; node < cluster.nodes; ++node) {
    const std::size_t first_leaf = node / network.nodes_per_leaf * leaves_per_pod;
    for (std::size_t nic = 0; nic < nics; ++nic) add_nic(cluster, node, nic, leaves[first_leaf + (rails ? nic : 0)]);
  }
  if (leaves.size() < 2) return;
  const Vertex spine = add_switch("spine");
  for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf) {
    const std::size_t first_node = leaf / leaves_per_pod * network.nodes_per_leaf;
    const std::size_t nodes_below = std::min(network.nodes_per_leaf, cluster.nodes - first_node);
    const double nics_below = static_cast<double>(nodes_below * (rails ? 1 : nics));
    connect(leaves[leaf], spine,
            {nics_below * cluster.nic.bytes_per_second / network.oversubscription,
             (network.leaf_latency_seconds + network.spine_latency_seconds) / 2});
  }
}

/// A switch's latency is paid in halves, on the link in and on the link out: so the two directions of a wire are alike.
void ClusterGraph::add_nic(const ClusterDescription& cluster, std::size_t node, std::size_t nic, Vertex leaf) {
  const std::string name = "node" + std::to_string(node) + "/nic" + std::to_string(nic);
  const Wire inside{cluster.nic.bytes_per_second, cluster.nic.latency_seconds / 2};
  const Wire outside{cluster.nic.bytes_per_second, (cluster.nic.latency_seconds + cluster.network->leaf_latency_seconds) / 2};
  const LinkId to_leaf = add_link(name, switch_names_[leaf], outside);
  const LinkId from_leaf = add_link(switch_names_[leaf], name, outside);
  const std::vector<std::size_t>& serves = cluster.nic_serves[nic];

  if (cluster.island_kind != IslandKind::pcie) {
    for (const std::size_t served : serves) {
      const std::size_t gpu = node * cluster.gpus_per_node + served;
      ways_[gpu].out.push_back({leaf, {add_link(gpu_name(cluster, gpu), name, inside), to_leaf}});
      ways_[gpu].in.push_back({leaf, {from_leaf, add_link(name, gpu_name(cluster, gpu), inside)}});
    }
    return;
  }
  const Vertex root = islands_[(node * cluster.gpus_per_node + serves.front()) / cluster.island_gpus];
  const LinkId to_nic = add_link(switch_names_[root], name, inside);
  const LinkId from_nic = add_link(name, switch_names_[root], inside);
  for (const std::size_t served : serves) {
    Ways& ways = ways_[node * cluster.gpus_per_node + served];
    const Vertex own = ways.out.front().switch_vertex;
    Way out{leaf, ways.out.front().links};
    Way in{leaf, {from_leaf, from_nic}};
    if (own != root) {
      out.links.push_back(switches_[edge(own, root, switches_).first]);
      in.links.push_back(switches_[edge(root, own, switches_).first]);
    }
    out.links.insert(out.links.end(), {to_nic, to_leaf});
    in.links.push_back(ways.in.front().links.front());
    ways.out.push_back(std::move(out));
    ways.in.push_back(std::move(in));
  }
}

const std::vector<ClusterGraph::Reach>& ClusterGraph::tree_from(Vertex root) const {
  Tree& tree = trees_[root];
  std::call_once(tree.grown, [&] {
    const Reach nowhere{std::numeric_limits<std::int64_t>::max(), 0, 0};
    tree.reach.assign(num_vertices(switches_), nowhere);
    const auto longer_by = [this](const Reach& reach, LinkId link) {
      return Reach{reach.femtoseconds + in_femtoseconds(links_[link].latency_seconds), reach.links + 1, link};
    };
    boost::dijkstra_shortest_paths(
        switches_, root,
        boost::distance_map(boost::make_iterator_property_map(tree.reach.begin(), get(boost::vertex_index, switches_)))
            .weight_map(get(boost::edge_bundle, switches_))
            .distance_compare(std::less<Reach>())
            .distance_combine(longer_by)
            .distance_inf(nowhere)
            .distance_zero(Reach{0, 0, 0}));
  });
  return tree.reach;
}

std::int64_t ClusterGraph::femtoseconds(const std::vector<LinkId>& links) const {
  std::int64_t sum = 0;
  for (const LinkId link : links) sum += in_femtoseconds(links_[link].latency_seconds);
  return sum;
}

Route ClusterGraph::route(GpuId from, GpuId to) const {
  Route route;
  route.bytes_per_second = std::numeric_limits<double>::infinity();
  if (from == to) return route;

  std::optional<std::tuple<std::int64_t, std::size_t, std::vector<LinkId>>> best;
  for (const Way& out : ways_[from].out) {
    const std::vector<Reach>& reach = tree_from(out.switch_vertex);
    for (const Way& in : ways_[to].in) {
      if (reach[in.switch_vertex].femtoseconds == std::numeric_limits<std::int64_t>::max()) continue;
      std::vector<LinkId> links(in.links.rbegin(), in.links.rend());  // backwards, as the tree is read
      for (Vertex at = in.switch_vertex; at != out.switch_vertex; at = link_source_[reach[at].last]) {
        links.push_back(reach[at].last);
      }
      links.insert(links.end(), out.links.rbegin(), out.links.rend());
      std::reverse(links.begin(), links.end());
      auto candidate = std::make_tuple(femtoseconds(links), links.size(), std::move(links));
      if (!best || candidate < *best) best = std::move(candidate);
    }
  }
  route.links = std::get<2>(std::move(best.value()));
  for (const LinkId link : route.links) {
    route.latency_seconds += links_[link].latency_seconds;
    route.bytes_per_second = std::min(route.bytes_per_second, links_[link].bytes_per_second);
  }
  return route;
}

}  // namespace hsap
