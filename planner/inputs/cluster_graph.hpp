// The cluster as a directed graph of links, and the least-latency routes in it.
// The vertices of the Boost graph are the places where traffic is switched: island switches, PCIe roots and the NICs on them,
// leaves, the spine. GPUs (and NICs that belong to GPUs) are ends: a route is a way from the GPU to a switch, a path between
// switches, and a way to the other GPU. So no route passes through a GPU or another GPU's NIC, and shortest-path trees are few:
// one per switch, not one per GPU.
#pragma once

#include <boost/graph/adjacency_list.hpp>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "planner/inputs/cluster_description.hpp"

namespace hsap {

class ClusterGraph {
 public:
  explicit ClusterGraph(const ClusterDescription& cluster);
  ClusterGraph(const ClusterGraph&) = delete;
  ClusterGraph& operator=(const ClusterGraph&) = delete;

  const std::vector<Link>& links() const { return links_; }
  /// Least latency, then fewest links, then lowest link ids. Empty when from == to. Thread-safe.
  /// GPUs are those of the file. The reader's checks make sure that a route exists.
  Route route(GpuId from, GpuId to) const;

 private:
  using Vertex = std::uint32_t;
  using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, std::string, LinkId>;  // names of vertices

  /// Links between a GPU and a switch, in travel order.
  struct Way {
    Vertex vertex;
    std::vector<LinkId> links;
  };
  /// The best path from the root of a tree to a vertex. Ordered by what makes a path better.
  struct Reach {
    std::int64_t femtoseconds;
    std::uint32_t links;
    LinkId last;
    auto operator<=>(const Reach&) const = default;
  };
  struct Tree {
    std::once_flag once;
    std::vector<Reach> reach;  // by vertex
  };
  struct Ways {
    std::vector<Way> out, in;
  };

  Vertex add_switch(const std::string& name);
  LinkId add_link(const std::string& from, const std::string& to, const Wire& wire);
  void connect(Vertex a, Vertex b, const Wire& wire);
  void attach(GpuId gpu, const std::string& gpu_name, Vertex vertex, const Wire& wire);
  void add_islands(const ClusterDescription& cluster);
  void add_network(const ClusterDescription& cluster);
  const std::vector<Reach>& tree_from(Vertex root) const;
  std::vector<LinkId> path(Vertex from, Vertex to) const;

  std::vector<Link> links_;
  std::vector<std::int64_t> femtoseconds_;  // by link: latencies as whole numbers, so that equal sums compare equal
  std::vector<Vertex> link_source_;         // by link
  Graph switches_;
  std::vector<Ways> ways_;      // by GPU
  mutable std::deque<Tree> trees_;
};

}  // namespace hsap
