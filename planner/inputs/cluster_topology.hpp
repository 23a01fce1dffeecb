// The machine: GPUs, islands, NICs and switches as a directed graph with bandwidth and latency on each link.
// Immutable. The one source of routes: the cost model and the simulator both ask route(), nobody finds paths of their own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace hsap {

using GpuId = std::uint32_t;  ///< position in the cluster's GPU order: node by node, then by index inside the node
using LinkId = std::uint32_t;

/// One kind of GPU. Peaks are the vendor's dense numbers; what kernels attain is KernelTimes' business.
struct DeviceKind {
  std::string name;                  ///< "H100 SXM"
  double peak_flops_per_second = 0;  ///< bf16, dense, matrix units
  double memory_bytes_per_second = 0;
  double memory_bytes = 0;
  int multiprocessors = 0;  ///< SMs
};

/// One direction of one wire, port or shared switch uplink.
struct Link {
  std::string name;             ///< "node0/gpu3 -> nvswitch"
  double bytes_per_second = 0;  ///< payload bandwidth: nominal x efficiency of the file
  double latency_seconds = 0;
};

struct Route {
  std::vector<LinkId> links;    ///< in travel order; empty from a GPU to itself
  double latency_seconds = 0;   ///< sum over links
  double bytes_per_second = 0;  ///< slowest link; infinity for the empty route
};

class ClusterTopology {
 public:
  /// Reads a cluster YAML file (format: topologies/README.md). Throws InvalidInput with file, line, found and expected.
  static ClusterTopology read(const std::filesystem::path& file);
  /// The same from text; `source` names it in messages.
  static ClusterTopology parse(const std::string& text, const std::string& source);

  const std::string& name() const;
  std::size_t gpus() const;
  const DeviceKind& device(GpuId gpu) const;
  /// Node (host) and island (fast domain: NVLink or one PCIe root) of a GPU, both counted from 0 over the cluster.
  std::uint32_t node_of(GpuId gpu) const;
  std::uint32_t island_of(GpuId gpu) const;
  std::size_t nodes() const;
  /// Nodes whose NICs meet below the spine, counted from 0 over the cluster; an island that spans nodes is in the pod of its
  /// first one. Without a network, or with one leaf per rail, all are in pod 0.
  std::uint32_t pod_of(GpuId gpu) const;

  const std::vector<Link>& links() const;
  /// Least-latency route (then fewest links, then lowest link ids). Found on first use, kept with this object. Thread-safe.
  const Route& route(GpuId from, GpuId to) const;

  /// The cluster cut down to some of its GPUs, renumbered 0..n-1 in the order given; links stay as they are.
  /// Throws InvalidInput for an id out of range or named twice.
  ClusterTopology take(const std::vector<GpuId>& gpus) const;
  /// The first `count` GPUs. Throws InvalidInput when there are fewer, naming how many there are.
  ClusterTopology take_first(std::size_t count) const;
  /// What a reader should be told about the choice, one line each: "12 GPUs do not fill nodes of 8: node 1 uses 4 of 8".
  const std::vector<std::string>& remarks() const;

 private:
  struct Impl;
  explicit ClusterTopology(std::shared_ptr<const Impl> impl);
  std::shared_ptr<const Impl> impl_;
};

}  // namespace hsap
