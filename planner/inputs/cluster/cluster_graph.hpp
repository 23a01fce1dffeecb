// The cluster as a directed graph of links, and the least-latency routes in it.
// The vertices of the Boost graph are the switches: of islands, leaves, spine. GPUs and NICs are ends: a route is a way from
// the GPU to a switch (perhaps through a NIC that serves it), a path between switches, and a way to the other GPU. So no route
// passes through a GPU or through the NIC of another one, and shortest-path trees are few: one per switch, not one per GPU.
#pragma once

#include <boost/graph/adjacency_list.hpp>
#include <compare>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "planner/inputs/cluster/cluster_description.hpp"

namespace hsap {

class ClusterGraph {
 public:
  explicit ClusterGraph(const ClusterDescription& cluster);

  const std::vector<Link>& links() const { return links_; }
  /// Least latency, then fewest links, then lowest link ids; empty when from == to. GPUs are those of the file. Thread-safe.
  /// A route exists between any two GPUs of a description that the reader let pass.
  Route route(GpuId from, GpuId to) const;

 private:
  using Vertex = std::uint32_t;
  using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property, LinkId>;

  /// Links from a GPU to a switch, or from a switch to a GPU, in travel order.
  struct Way {
    Vertex switch_vertex;
    std::vector<LinkId> links;
  };
  struct Ways {
    std::vector<Way> out, in;
  };
  /// The best path from the root of a tree to a vertex; smaller is better. Paths of one latency and length to one vertex differ
  /// in their last link, so the order is total. Latencies are whole numbers here, so that equal sums compare equal.
  struct Reach {
    std::int64_t femtoseconds;
    std::uint32_t links;
    LinkId last;
    auto operator<=>(const Reach&) const = default;
  };
  struct Tree {
    std::once_flag grown;
    std::vector<Reach> reach;  // by vertex
  };

  Vertex add_switch(const std::string& name);
  LinkId add_link(const std::string& from, const std::string& to, const Wire& wire);
  void connect(Vertex a, Vertex b, const Wire& wire);
  void add_islands(const ClusterDescription& cluster);
  void add_network(const ClusterDescription& cluster);
  void add_nic(const ClusterDescription& cluster, std::size_t node, std::size_t nic, Vertex leaf);
  const std::vector<Reach>& tree_from(Vertex root) const;
  std::int64_t femtoseconds(const std::vector<LinkId>& links) const;

  std::vector<Link> links_;
  Graph switches_;
  std::vector<std::string> switch_names_;
  std::vector<Vertex> islands_;      // the first islands_.size() switches
  std::vector<Vertex> link_source_;  // by link; meaningful for links between switches
  std::vector<Ways> ways_;           // by GPU
  mutable std::vector<Tree> trees_;  // by switch, grown on first use
};

}  // namespace hsap
