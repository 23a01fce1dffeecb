// Cluster files as text, for tests that change a line of them.
#pragma once

#include <catch2/catch.hpp>
#include <string>

#include "planner/inputs/cluster_topology.hpp"

namespace hsap::test {

inline const std::string kGpu =
    "gpu: {kind: test, bf16_dense: 100 TFLOP/s, memory_bandwidth: 1 TB/s, memory: 16 GiB, multiprocessors: 100}\n";

/// Two nodes of four GPUs; GPUs 0 and 1 share NIC 0, 2 and 3 NIC 1; one leaf per NIC number.
inline const std::string kTwoNodes = R"(name: two nodes
nodes: 2
gpus_per_node: 4
gpu:
  kind: test
  bf16_dense: 100 TFLOP/s
  memory_bandwidth: 1 TB/s
  memory: 16 GiB
  multiprocessors: 100
island:
  kind: nvlink
  gpus: 4
  bandwidth: 300 GB/s
  efficiency: 0.5
  latency: 3 us
nics:
  serves: [[0, 1], [2, 3]]
  bandwidth: 200 Gb/s
  latency: 6 us
network:
  shape: rail-optimised
  nodes_per_leaf: 2
  oversubscription: 1
  leaf_latency: 0.2 us
  spine_latency: 0.4 us
)";

inline ClusterTopology parse(const std::string& text) { return ClusterTopology::parse(text, "test.yaml"); }

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace hsap::test
