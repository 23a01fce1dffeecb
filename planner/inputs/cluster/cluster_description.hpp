// What a cluster YAML file says, in SI units, checked but not yet expanded to a graph (that is cluster_graph.hpp).
// Every node is alike. Bandwidths are payload: nominal x efficiency of the file.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "planner/inputs/cluster_topology.hpp"

namespace hsap {

/// What the GPUs of an island share.
enum class IslandKind {
  nvlink,  ///< NVSwitch; NICs hang on the GPUs' own PCIe ports, so network traffic does not meet NVLink traffic
  pcie,    ///< PCIe root or switch of one socket; NICs hang on it too, so network traffic uses the GPUs' island ports
  plain,   ///< any other non-blocking switch, for experiments; NICs hang on the GPUs as with nvlink
};

/// One direction of a wire. The other direction is alike.
struct Wire {
  double bytes_per_second = 0;
  double latency_seconds = 0;
};

enum class NetworkShape {
  rail_optimised,  ///< NIC i of every node of a pod on leaf i of the pod
  leaf_spine,      ///< all NICs of a node on one leaf
};

struct NetworkDescription {
  NetworkShape shape = NetworkShape::rail_optimised;
  std::size_t nodes_per_leaf = 0;
  double oversubscription = 1;  ///< bandwidth below a leaf / bandwidth of its uplink
  double leaf_latency_seconds = 0;
  double spine_latency_seconds = 0;
};

struct ClusterDescription {
  std::string name;
  std::size_t nodes = 0;
  std::size_t gpus_per_node = 0;
  DeviceKind device;

  IslandKind island_kind = IslandKind::nvlink;
  std::size_t island_gpus = 0;          ///< divides gpus_per_node, or is a multiple of it that divides the cluster
  Wire island_port;                     ///< latency: GPU to GPU through the island's switch, both ports together
  std::optional<Wire> between_islands;  ///< present when a node holds several islands; one wire per pair of them

  /// Per NIC of a node the GPUs of the node that use it, each GPU at least once; empty without network. Under pcie the NIC
  /// hangs on the island of its first GPU and the others reach it over between_islands.
  std::vector<std::vector<std::size_t>> nic_serves;
  Wire nic;                                   ///< latency: from GPU (pcie: from island switch) to the leaf's port
  std::optional<NetworkDescription> network;  ///< present when there are NICs

  std::size_t gpus() const { return nodes * gpus_per_node; }
};

/// Reads the YAML text of a cluster file (format: topologies/README.md); `source` names it in messages.
/// Throws InvalidInput with file, line, found and expected; for another tool's file it says what the file looks like.
ClusterDescription parse_cluster_yaml(const std::string& text, const std::string& source);

}  // namespace hsap
