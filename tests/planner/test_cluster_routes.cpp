// Routes in clusters of any form: connected, of least latency, found by many threads at once and in clusters of thousands.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <sstream>
#include <thread>

#include "tests/planner/cluster_texts.hpp"

namespace hsap {
namespace {

using test::kGpu;
using test::kTwoNodes;
using test::parse;
using test::replaced;

/// The two ends of a link by its name "a -> b".
std::pair<std::string, std::string> ends(const Link& link) {
  const std::size_t arrow = link.name.find(" -> ");
  return {link.name.substr(0, arrow), link.name.substr(arrow + 4)};
}

std::string gpu_name(std::size_t gpu, std::size_t per_node) {
  return "node" + std::to_string(gpu / per_node) + "/gpu" + std::to_string(gpu % per_node);
}

/// Least latency between two GPUs by relaxing all links until nothing changes; may pass through every vertex but GPUs, switches
/// of islands in other nodes, and NICs in other nodes or in the node of both ends.
double least_latency(const ClusterTopology& cluster, std::size_t per_node, GpuId from, GpuId to) {
  const auto node_of = [&](GpuId gpu) { return "node" + std::to_string(gpu / per_node) + "/"; };
  std::map<std::string, double> latency{{gpu_name(from, per_node), 0.0}};
  const auto may_pass = [&](const std::string& vertex) {
    if (vertex == gpu_name(from, per_node) || vertex == gpu_name(to, per_node)) return true;
    if (vertex.find("/gpu") != std::string::npos) return false;
    if (vertex.find("/nic") != std::string::npos) {
      return node_of(from) != node_of(to) && (vertex.rfind(node_of(from), 0) == 0 || vertex.rfind(node_of(to), 0) == 0);
    }
    return true;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const Link& link : cluster.links()) {
      const auto [a, b] = ends(link);
      if (latency.count(a) == 0 || !may_pass(a) || !may_pass(b)) continue;
      const double through = latency[a] + link.latency_seconds;
      if (latency.count(b) > 0 && latency[b] <= through + 1e-15) continue;
      latency[b] = through;
      changed = true;
    }
  }
  return latency.at(gpu_name(to, per_node));
}

TEST_CASE("cluster: in random clusters every route is a connected path of least latency, alike in both directions") {
  constexpr unsigned kSeed = 20;
  INFO("seed " << kSeed);
  std::mt19937 random(kSeed);
  const auto any = [&](int least, int most) { return std::uniform_int_distribution<int>(least, most)(random); };
  const auto us = [&](int most) { return std::to_string(any(1, most)) + "." + std::to_string(any(0, 9)) + " us"; };
  for (int round = 0; round < 25; ++round) {
    const int nodes = any(1, 5);
    const int islands = any(1, 2);
    const int per_node = islands * any(1, 3);
    const bool pcie = any(0, 1) == 1;
    std::string text = "name: random\nnodes: " + std::to_string(nodes) + "\ngpus_per_node: " + std::to_string(per_node) + "\n" +
                       kGpu + "island: {kind: " + (pcie ? "pcie" : "nvlink") + ", gpus: " + std::to_string(per_node / islands) +
                       ", bandwidth: 100 GB/s, latency: " + us(5) + "}\n";
    if (islands == 2) text += "between_islands: {bandwidth: 20 GB/s, latency: " + us(5) + "}\n";
    std::string all = "0", reversed = "0";
    for (int gpu = 1; gpu < per_node; ++gpu) {
      all += ", " + std::to_string(gpu);
      reversed = std::to_string(gpu) + ", " + reversed;
    }
    const std::string serves =
        "[" + all + "]" + (any(0, 1) == 1 ? ", [" + reversed + "]" : "");  // on PCIe: NICs on both islands
    text += "nics: {serves: [" + serves + "], bandwidth: 25 GB/s, latency: " + us(9) + "}\n" +
            "network: {shape: " + (any(0, 1) == 1 ? "leaf-spine" : "rail-optimised") +
            ", nodes_per_leaf: " + std::to_string(any(1, 3)) + ", oversubscription: 2, leaf_latency: " + us(2) +
            ", spine_latency: " + us(2) + "}\n";
    CAPTURE(text);
    const ClusterTopology cluster = parse(text);
    const auto gpus = static_cast<GpuId>(cluster.gpus());
    for (GpuId from = 0; from < gpus; ++from) {
      for (GpuId to = 0; to < gpus; ++to) {
        if (from == to) continue;
        CAPTURE(from, to);
        const Route& route = cluster.route(from, to);
        std::string at = gpu_name(from, static_cast<std::size_t>(per_node));
        double latency = 0, slowest = std::numeric_limits<double>::infinity();
        for (const LinkId id : route.links) {
          const Link& link = cluster.links()[id];
          REQUIRE(ends(link).first == at);
          at = ends(link).second;
          latency += link.latency_seconds;
          slowest = std::min(slowest, link.bytes_per_second);
        }
        CHECK(at == gpu_name(to, static_cast<std::size_t>(per_node)));
        CHECK(route.latency_seconds == Approx(latency));
        CHECK(route.bytes_per_second == slowest);
        CHECK(route.latency_seconds == Approx(cluster.route(to, from).latency_seconds));
        CHECK(route.latency_seconds == Approx(least_latency(cluster, static_cast<std::size_t>(per_node), from, to)));
      }
    }
  }
}

TEST_CASE("cluster: many threads may ask for routes at once") {
  const std::string text = replaced(replaced(kTwoNodes, "nodes: 2", "nodes: 8"), "nodes_per_leaf: 2", "nodes_per_leaf: 4");
  const ClusterTopology alone = parse(text);
  const ClusterTopology shared = parse(text);
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (std::size_t thread = 0; thread < wrong.size(); ++thread) {
    threads.emplace_back([&, thread] {
      for (GpuId from = 0; from < 32; ++from) {
        for (GpuId to = 0; to < 32; ++to) wrong[thread] += shared.route(from, to).links.empty() != (from == to);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(4, 0));
  for (GpuId to = 0; to < 32; ++to) CHECK(shared.route(5, to).links == alone.route(5, to).links);
}

TEST_CASE("cluster: 4,096 GPUs are no burden") {
  const std::string big = replaced(replaced(kTwoNodes, "nodes: 2", "nodes: 1024"), "nodes_per_leaf: 2", "nodes_per_leaf: 32");
  const ClusterTopology cluster = parse(big);
  REQUIRE(cluster.gpus() == 4096);
  double latency = 0;
  for (GpuId gpu = 0; gpu < 4096; ++gpu) latency += cluster.route(gpu, (gpu + 1) % 4096).latency_seconds;
  // A ring: 3 hops of 3 us in each node; 1,024 hops from rail 1 to rail 0 over the spine.
  CHECK(latency == Approx(1024 * 3 * 3e-6 + 1024 * (12e-6 + 0.8e-6)));
}

}  // namespace
}  // namespace hsap
