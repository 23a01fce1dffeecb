// ClusterTopology: the reader of cluster YAML, the links that it becomes, and routes.
#include "planner/inputs/cluster_topology.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <sstream>

#include "planner/ir/errors.hpp"
#include "tests/planner/cluster_texts.hpp"

namespace hsap {
namespace {

using test::kGpu;
using test::kTwoNodes;
using test::parse;
using test::replaced;

/// One server, two sockets of two GPUs, one NIC on socket 1 that all GPUs use; `nodes` of them below one leaf.
std::string two_sockets(int nodes) {
  return "name: two sockets\nnodes: " + std::to_string(nodes) + "\ngpus_per_node: 4\n" + kGpu +
         "island: {kind: pcie, gpus: 2, bandwidth: 24 GB/s, latency: 5 us}\n"
         "between_islands: {bandwidth: 16 GB/s, latency: 1 us}\n"
         "nics: {serves: [[2, 3, 0, 1]], bandwidth: 100 Gb/s, latency: 4 us}\n"
         "network: {shape: leaf-spine, nodes_per_leaf: 8, oversubscription: 1, leaf_latency: 1 us, spine_latency: 1 us}\n";
}

std::vector<std::string> names(const ClusterTopology& cluster, GpuId from, GpuId to) {
  std::vector<std::string> result;
  for (const LinkId link : cluster.route(from, to).links) result.push_back(cluster.links()[link].name);
  return result;
}

using Names = std::vector<std::string>;

TEST_CASE("cluster: a file's figures arrive in SI units") {
  const ClusterTopology cluster = parse(kTwoNodes);
  CHECK(cluster.name() == "two nodes");
  CHECK(cluster.gpus() == 8);
  CHECK(cluster.nodes() == 2);
  CHECK(cluster.device(5).name == "test");
  CHECK(cluster.device(5).peak_flops_per_second == 100e12);
  CHECK(cluster.device(5).memory_bytes_per_second == 1e12);
  CHECK(cluster.device(5).memory_bytes == 16.0 * (1 << 30));
  CHECK(cluster.device(5).multiprocessors == 100);
  CHECK(cluster.node_of(3) == 0);
  CHECK(cluster.node_of(4) == 1);
  CHECK(cluster.island_of(7) == 1);
  CHECK(cluster.remarks().empty());
}

TEST_CASE("cluster: the route from a GPU to itself is empty") {
  const ClusterTopology cluster = parse(kTwoNodes);
  const Route& route = cluster.route(3, 3);
  CHECK(route.links.empty());
  CHECK(route.latency_seconds == 0);
  CHECK(std::isinf(route.bytes_per_second));
}

TEST_CASE("cluster: inside an island a route is port, switch, port") {
  const ClusterTopology cluster = parse(kTwoNodes);
  CHECK(names(cluster, 1, 2) == Names{"node0/gpu1 -> nvswitch0", "nvswitch0 -> node0/gpu2"});
  CHECK(cluster.route(1, 2).latency_seconds == 3e-6);
  CHECK(cluster.route(1, 2).bytes_per_second == 150e9);  // 300 GB/s x 0.5
}

TEST_CASE("cluster: GPUs on the same rail meet in their leaf") {
  const ClusterTopology cluster = parse(kTwoNodes);
  CHECK(names(cluster, 0, 4) ==
        Names{"node0/gpu0 -> node0/nic0", "node0/nic0 -> pod0/leaf0", "pod0/leaf0 -> node1/nic0", "node1/nic0 -> node1/gpu0"});
  CHECK(cluster.route(0, 4).latency_seconds == Approx(6e-6 + 0.2e-6 + 6e-6));
  CHECK(cluster.route(0, 4).bytes_per_second == 25e9);
}

TEST_CASE("cluster: GPUs on different rails meet in the spine") {
  const ClusterTopology cluster = parse(kTwoNodes);
  CHECK(names(cluster, 0, 6) == Names{"node0/gpu0 -> node0/nic0", "node0/nic0 -> pod0/leaf0", "pod0/leaf0 -> spine",
                                      "spine -> pod0/leaf1", "pod0/leaf1 -> node1/nic1", "node1/nic1 -> node1/gpu2"});
  CHECK(cluster.route(0, 6).latency_seconds == Approx(6e-6 + 0.2e-6 + 0.4e-6 + 0.2e-6 + 6e-6));
}

TEST_CASE("cluster: GPUs served by one NIC share its link and nothing before it") {
  const ClusterTopology cluster = parse(kTwoNodes);
  const std::vector<LinkId>& a = cluster.route(0, 4).links;
  const std::vector<LinkId>& b = cluster.route(1, 5).links;
  CHECK(a[0] != b[0]);
  CHECK(a[1] == b[1]);
  CHECK(a[2] == b[2]);
  CHECK(a[3] != b[3]);
}

TEST_CASE("cluster: an uplink carries what is below its leaf, divided by the oversubscription") {
  const auto uplink = [](const std::string& text) {
    const ClusterTopology cluster = parse(text);
    return cluster.links()[cluster.route(0, 6).links[2]].bytes_per_second;
  };
  CHECK(uplink(kTwoNodes) == 2 * 25e9);  // two nodes, one NIC each
  CHECK(uplink(replaced(kTwoNodes, "oversubscription: 1", "oversubscription: 4")) == 2 * 25e9 / 4);
  CHECK(uplink(replaced(kTwoNodes, "nodes_per_leaf: 2", "nodes_per_leaf: 1")) == 25e9);
  CHECK(uplink(replaced(kTwoNodes, "nodes_per_leaf: 2", "nodes_per_leaf: 100")) == 2 * 25e9);  // only what is really there
  const std::string leaf_spine =
      replaced(replaced(kTwoNodes, "rail-optimised", "leaf-spine"), "nodes_per_leaf: 2", "nodes_per_leaf: 1");
  CHECK(uplink(leaf_spine) == 2 * 25e9);  // one node, two NICs
  const ClusterTopology oversubscribed = parse(replaced(kTwoNodes, "oversubscription: 1", "oversubscription: 4"));
  CHECK(oversubscribed.route(0, 6).bytes_per_second == 12.5e9);
  CHECK(oversubscribed.route(0, 4).bytes_per_second == 25e9);
}

TEST_CASE("cluster: with one leaf there is no spine") {
  const ClusterTopology cluster = parse(two_sockets(2));
  for (const Link& link : cluster.links()) CHECK(link.name.find("spine") == std::string::npos);
}

TEST_CASE("cluster: two sockets share the wire between them") {
  const ClusterTopology cluster = parse(two_sockets(1));
  CHECK(cluster.nodes() == 1);
  CHECK(cluster.island_of(1) == 0);
  CHECK(cluster.island_of(2) == 1);
  CHECK(names(cluster, 0, 1) == Names{"node0/gpu0 -> pcie0", "pcie0 -> node0/gpu1"});
  CHECK(names(cluster, 0, 2) == Names{"node0/gpu0 -> pcie0", "pcie0 -> pcie1", "pcie1 -> node0/gpu2"});
  CHECK(cluster.route(0, 2).latency_seconds == Approx(6e-6));
  CHECK(cluster.route(0, 2).bytes_per_second == 16e9);
  CHECK(cluster.route(0, 2).links[1] == cluster.route(1, 3).links[1]);
  CHECK(cluster.route(2, 0).links[1] != cluster.route(0, 2).links[1]);
}

TEST_CASE("cluster: on PCIe network traffic uses the island port and the wire to the NIC's socket") {
  const ClusterTopology cluster = parse(two_sockets(2));
  CHECK(names(cluster, 0, 6) == Names{"node0/gpu0 -> pcie0", "pcie0 -> pcie1", "pcie1 -> node0/nic0",
                                      "node0/nic0 -> pod0/leaf0", "pod0/leaf0 -> node1/nic0", "node1/nic0 -> pcie3",
                                      "pcie3 -> node1/gpu2"});
  CHECK(cluster.route(0, 6).latency_seconds == Approx((2.5 + 1 + 4 + 1 + 4 + 2.5) * 1e-6));
  CHECK(cluster.route(0, 6).bytes_per_second == 12.5e9);
  CHECK(cluster.route(0, 6).links[0] == cluster.route(0, 1).links[0]);
}

TEST_CASE("cluster: an island may span nodes") {
  const std::string rack =
      "name: rack\nnodes: 6\ngpus_per_node: 4\n" + kGpu +
      "island: {kind: nvlink, gpus: 12, bandwidth: 900 GB/s, latency: 3 us}\n"
      "nics: {serves: [[0, 1, 2, 3]], bandwidth: 400 Gb/s, latency: 6 us}\n"
      "network: {shape: leaf-spine, nodes_per_leaf: 3, oversubscription: 1, leaf_latency: 1 us, spine_latency: 1 us}\n";
  const ClusterTopology cluster = parse(rack);
  CHECK(cluster.node_of(11) == 2);
  CHECK(cluster.island_of(11) == 0);
  CHECK(cluster.island_of(12) == 1);
  CHECK(names(cluster, 0, 11) == Names{"node0/gpu0 -> nvswitch0", "nvswitch0 -> node2/gpu3"});
  CHECK(cluster.route(0, 12).links.size() == 6);  // NIC, leaf, spine, leaf, NIC
}

TEST_CASE("cluster: the simulator's reference switch is expressed exactly") {
  constexpr int kRanks = 64;
  const std::string text = "name: switch\nnodes: " + std::to_string(kRanks) + "\ngpus_per_node: 1\n" + kGpu +
                           "island: {kind: plain, gpus: " + std::to_string(kRanks) + ", bandwidth: 50 GB/s, latency: 5 us}\n";
  const ClusterTopology cluster = parse(text);
  CHECK(cluster.gpus() == kRanks);
  CHECK(cluster.nodes() == kRanks);
  CHECK(cluster.links().size() == 2 * kRanks);
  double ring = 0;
  for (GpuId gpu = 0; gpu + 1 < kRanks; ++gpu) {
    const Route& route = cluster.route(gpu, gpu + 1);
    CHECK(route.latency_seconds == 5e-6);
    CHECK(route.bytes_per_second == 50e9);
    ring += 64 * 1048576 / route.bytes_per_second + route.latency_seconds;
  }
  CHECK(ring == Approx(84.872169e-3).epsilon(1e-8));  // (N-1)(64 MiB / 50e9 + 5 us), N = 64
}

TEST_CASE("cluster: equal routes are told apart by the lowest link ids") {
  const std::string two_nics =
      replaced(replaced(kTwoNodes, "[[0, 1], [2, 3]]", "[[0, 1, 2, 3], [0, 1, 2, 3]]"), "rail-optimised", "leaf-spine");
  const ClusterTopology cluster = parse(two_nics);
  CHECK(names(cluster, 2, 7) ==
        Names{"node0/gpu2 -> node0/nic0", "node0/nic0 -> pod0/leaf0", "pod0/leaf0 -> node1/nic0", "node1/nic0 -> node1/gpu3"});
}

TEST_CASE("cluster: taken GPUs are renumbered, links and routes stay") {
  const ClusterTopology whole = parse(replaced(kTwoNodes, "nodes: 2", "nodes: 4"));
  const ClusterTopology part = whole.take({13, 0, 1, 12});
  CHECK(part.gpus() == 4);
  CHECK(part.nodes() == 2);
  CHECK(part.links().size() == whole.links().size());
  CHECK(part.route(0, 1).links == whole.route(13, 0).links);
  CHECK(part.node_of(0) == 1);  // node 3 of the file
  CHECK(part.node_of(1) == 0);
  CHECK(part.island_of(3) == 1);
  const ClusterTopology again = part.take({3, 2});
  CHECK(again.route(0, 1).links == whole.route(12, 1).links);
  CHECK(again.node_of(0) == 1);
}

TEST_CASE("cluster: nodes whose NICs meet below the spine are a pod") {
  const ClusterTopology cluster =
      ClusterTopology::read(HSAP_SOURCE_DIR "/topologies/dgx-h100.yaml");  // 32 nodes of 8 below a leaf
  CHECK(cluster.pod_of(0) == 0);
  CHECK(cluster.pod_of(255) == 0);
  CHECK(cluster.pod_of(256) == 1);
  CHECK(cluster.pod_of(511) == 1);
  const ClusterTopology part = cluster.take({300, 5, 301});
  CHECK(part.pod_of(0) == 1);
  CHECK(part.pod_of(1) == 0);
  CHECK(cluster.take({300, 301}).pod_of(1) == 0);
  const ClusterTopology server = ClusterTopology::read(HSAP_SOURCE_DIR "/topologies/l20-pcie-8.yaml");  // no network
  CHECK(server.pod_of(7) == 0);
}

TEST_CASE("cluster: nodes that are not filled are remarked") {
  const ClusterTopology cluster = parse(replaced(kTwoNodes, "nodes: 2", "nodes: 8"));
  CHECK(cluster.take_first(8).remarks().empty());
  CHECK(cluster.take_first(6).remarks() == Names{"6 GPUs do not fill nodes of 4: node 1 uses 2 of 4 GPUs"});
  CHECK(cluster.take_first(6).nodes() == 2);
  CHECK(cluster.take_first(6).take_first(4).remarks().empty());
  CHECK(cluster.take({0, 4, 8, 12, 16, 20}).remarks() ==
        Names{"6 GPUs do not fill nodes of 4: node 0 uses 1 of 4 GPUs, node 1 uses 1 of 4 GPUs, node 2 uses 1 of 4 GPUs, "
              "node 3 uses 1 of 4 GPUs, and 2 more nodes"});
}

TEST_CASE("cluster: the devices 0,1,2,3,6,7 of one server can be chosen") {
  const ClusterTopology server = ClusterTopology::read(HSAP_SOURCE_DIR "/topologies/dgx-h100-2.yaml");
  const ClusterTopology part = server.take({0, 1, 2, 3, 6, 7});
  CHECK(part.gpus() == 6);
  CHECK(part.nodes() == 1);
  CHECK(names(part, 3, 4) == Names{"node0/gpu3 -> nvswitch0", "nvswitch0 -> node0/gpu6"});
  CHECK(part.remarks() == Names{"6 GPUs do not fill nodes of 8: node 0 uses 6 of 8 GPUs"});
  const ClusterTopology sockets = ClusterTopology::read(HSAP_SOURCE_DIR "/topologies/l20-pcie-8.yaml").take({0, 1, 2, 3, 6, 7});
  CHECK(sockets.island_of(3) == 0);
  CHECK(sockets.island_of(4) == 1);
  CHECK(sockets.route(3, 4).bytes_per_second < sockets.route(4, 5).bytes_per_second);  // 2-3 of the plan cross sockets
}

TEST_CASE("cluster: impossible choices of GPUs are refused") {
  const ClusterTopology cluster = parse(kTwoNodes);
  CHECK_THROWS_WITH(cluster.take_first(9), "two nodes has 8 GPUs, 9 were asked for; expected 1 to 8");
  CHECK_THROWS_WITH(cluster.take_first(0), Catch::Contains("expected 1 to 8"));
  CHECK_THROWS_WITH(cluster.take({0, 8}), "GPU 8 is not in two nodes, expected 0 to 7");
  CHECK_THROWS_WITH(cluster.take({0, 3, 0}), "GPU 0 is named twice, expected each GPU once");
  CHECK_THROWS_AS(cluster.take({}), InvalidInput);
}

TEST_CASE("cluster: mistakes in a file are refused with line, key, found and expected") {
  struct Mistake {
    const char* from;
    const char* to;
    const char* message;
  };
  const Mistake mistakes[] = {
      {"name: two nodes\n", "", "test.yaml:1: name: this key is missing; expected the keys name, nodes"},
      {"name: two nodes", "name:", "test.yaml:1: name: found nothing, expected one line of text"},
      {"name: two nodes", "name: \"two\\nnodes\"", "test.yaml:1: name: found \"two nodes\", expected one line of text"},
      {"nodes: 2", "nodes: 0", "test.yaml:2: nodes: found \"0\", expected a whole number from 1 to 32,768"},
      {"nodes: 2", "nodes: -2", "test.yaml:2: nodes: found \"-2\", expected a whole number"},
      {"nodes: 2", "nodes: 2.0", "test.yaml:2: nodes: found \"2.0\""},
      {"nodes: 2", "nodes: two", "test.yaml:2: nodes: found \"two\""},
      {"nodes: 2", "nodes: [2]", "test.yaml:2: nodes: found a list"},
      {"nodes: 2", "nodes: 99999999999999999999", "test.yaml:2: nodes: found \"99999999999999999999\""},
      {"nodes: 2", "nodes: 2\nnodes: 4", "test.yaml:3: nodes: this key is given twice"},
      {"nodes: 2", "nodes: 2\nnode: 4", "test.yaml:3: unknown key, found \"node\", expected the keys name, nodes"},
      {"nodes: 2", "nodes: 2\n? [1, 2]\n: 4", "test.yaml:3: unknown key, found a list"},
      {"  multiprocessors: 100\n", "", "gpu.multiprocessors: this key is missing; expected the keys kind, bf16_dense"},
      {"kind: test", "kind: test\n  peak: 5", "test.yaml:6: gpu: unknown key, found \"peak\", expected the keys kind"},
      {"100 TFLOP/s", "100", "test.yaml:6: gpu.bf16_dense: \"100\" is no computing speed: it has no unit"},
      {"100 TFLOP/s", "100 GB/s", "test.yaml:6: gpu.bf16_dense: \"100 GB/s\" is no computing speed"},
      {"100 TFLOP/s", "100000 PFLOP/s", "test.yaml:6: gpu.bf16_dense: found \"100000 PFLOP/s\", expected from 1 GFLOP/s to"},
      {"memory: 16 GiB", "memory: 16 GiBs", "test.yaml:8: gpu.memory: \"16 GiBs\" is no size"},
      {"memory: 16 GiB", "memory: 0 GiB", "test.yaml:8: gpu.memory: found \"0 GiB\", expected from 1 MiB"},
      {"multiprocessors: 100", "multiprocessors: many", "test.yaml:9: gpu.multiprocessors: found \"many\""},
      {"kind: nvlink", "kind: nvswitch", "test.yaml:11: island.kind: found \"nvswitch\", expected nvlink, pcie or plain"},
      {"gpus: 4\n", "gpus: 3\n",
       "test.yaml:12: island.gpus: found \"3\", expected a divisor of gpus_per_node, or a multiple of it "
       "that divides all 8 GPUs: 1, 2, 4, 8"},
      {"gpus: 4\n", "gpus: 2\n",
       "test.yaml:12: island.gpus: islands of 2 in nodes of 4 need the top-level key between_islands"},
      {"300 GB/s", "-300 GB/s", "test.yaml:13: island.bandwidth: \"-300 GB/s\" is no bandwidth: it is negative"},
      {"300 GB/s", "0 GB/s", "test.yaml:13: island.bandwidth: found \"0 GB/s\", expected from 1 MB/s to 100 TB/s"},
      {"300 GB/s", "{a: b}", "test.yaml:13: island.bandwidth: found a map, expected from 1 MB/s"},
      {"efficiency: 0.5", "efficiency: 1.5", "test.yaml:14: island.efficiency: found \"1.5\", expected payload / nominal"},
      {"efficiency: 0.5", "efficiency: 0", "test.yaml:14: island.efficiency: found \"0\""},
      {"efficiency: 0.5", "efficiency: nan", "test.yaml:14: island.efficiency: found \"nan\""},
      {"latency: 3 us", "latency: 0 us", "test.yaml:15: island.latency: found \"0 us\", expected from 0.001 ns to 100 ms"},
      {"latency: 3 us", "latency: 3 s", "test.yaml:15: island.latency: found \"3 s\""},
      {"latency: 3 us", "latency: 3 us\nbetween_islands: {bandwidth: 1 GB/s, latency: 1 us}",
       "test.yaml:16: between_islands: a node holds one island only"},
      {"[[0, 1], [2, 3]]", "[[0, 1], [2]]", "test.yaml:17: nics.serves: GPU 3 is served by no NIC"},
      {"[[0, 1], [2, 3]]", "[[0, 1], [2, 4]]",
       "test.yaml:17: nics.serves: NIC 1: found \"4\", expected a list of GPUs from 0 to 3"},
      {"[[0, 1], [2, 3]]", "[[0, 1], [2, 3, 2]]", "test.yaml:17: nics.serves: NIC 1: GPU 2 is named twice"},
      {"[[0, 1], [2, 3]]", "[0, 1]", "test.yaml:17: nics.serves: NIC 0: found \"0\", expected a list"},
      {"[[0, 1], [2, 3]]", "[]", "test.yaml:17: nics.serves: found a list, expected 1 to 64 lists"},
      {"[[0, 1], [2, 3]]", "2", "test.yaml:17: nics.serves: found \"2\", expected 1 to 64 lists"},
      {"rail-optimised", "torus", "test.yaml:21: network.shape: found \"torus\", expected rail-optimised or leaf-spine"},
      {"nodes_per_leaf: 2", "nodes_per_leaf: 0", "test.yaml:22: network.nodes_per_leaf: found \"0\""},
      {"oversubscription: 1", "oversubscription: 0.5",
       "test.yaml:23: network.oversubscription: found \"0.5\", expected bandwidth below"},
      {"  spine_latency: 0.4 us\n", "", "network.spine_latency: this key is missing"},
      {"  shape", "\tshape", "test.yaml:21: this is no cluster description: it is no YAML ("},
  };
  for (const Mistake& mistake : mistakes) {
    CAPTURE(mistake.from, mistake.to);
    const std::string text = replaced(kTwoNodes, mistake.from, mistake.to);
    CHECK_THROWS_AS(parse(text), InvalidInput);
    CHECK_THROWS_WITH(parse(text), Catch::Contains(mistake.message) && !Catch::Contains("\n"));
  }
  const std::string many_islands =
      replaced(replaced(two_sockets(1), "gpus_per_node: 4", "gpus_per_node: 34"), "gpus: 2", "gpus: 1");
  CHECK_THROWS_WITH(parse(many_islands),
                    Catch::Contains("island.gpus: found \"1\", expected at most 16 islands in a node of 34"));
  const std::string no_nics = kTwoNodes.substr(0, kTwoNodes.find("nics:"));
  CHECK_THROWS_WITH(parse(no_nics), Catch::Contains("test.yaml:2: nodes: 2 nodes without the keys nics and network"));
  CHECK_THROWS_WITH(parse(kTwoNodes.substr(0, kTwoNodes.find("network:"))),
                    Catch::Contains("nics: nics and network come together"));
  CHECK_THROWS_WITH(parse(no_nics + kTwoNodes.substr(kTwoNodes.find("network:"))),
                    Catch::Contains("network: nics and network come together"));
}

TEST_CASE("cluster: files of other kinds are refused with what they look like") {
  const std::pair<const char*, const char*> cases[] = {
      {"", "an empty file"},
      {" \n", "an empty file"},
      {"<system version=\"1\">\n</system>", "an NCCL topology XML"},
      {"<?xml version='1.0'?>\n<platform version=\"4.1\"/>", "a SimGrid platform XML"},
      {"<html></html>", "an XML file"},
      {"\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV4\t0-7\n", "the output of nvidia-smi topo -m"},
      {"GPU 0: NVIDIA A100 (UUID: GPU-0)", "the output of nvidia-smi -L"},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n", "git lfs pull"},
      {"{\"a\": 1}", "a JSON file"},
      {"[1, 2]", "a JSON file"},
      {"just words", "it is no YAML map with the keys name, nodes"},
      {"a: 1\n---\nb: 2\n", "it is no YAML (something follows the first document)"},
      {",x\nname: a\n", "it is no YAML (something follows the first document)"},
      {"name: a\n---\nname: b\n", "it is no YAML (something follows the first document)"},
      {"topology: [ Ring ]\nnpus_count: [ 4 ]\nbandwidth: [ tbd ]\n",
       "test.yaml:3: this is an ASTRA-sim network file whose key \"bandwidth\" has no number: found \"tbd\""},
  };
  for (const auto& [text, message] : cases) {
    CAPTURE(text);
    CHECK_THROWS_WITH(parse(text),
                      Catch::Contains(message) && Catch::Contains("topologies/README.md") && !Catch::Contains("\n"));
  }
  CHECK_THROWS_WITH(parse(std::string("\0\1\2", 3)), Catch::Contains("a binary file"));
  CHECK_THROWS_WITH(ClusterTopology::read("/nowhere/x.yaml"), Catch::StartsWith("/nowhere/x.yaml: no such file"));
  CHECK_THROWS_WITH(ClusterTopology::read(HSAP_SOURCE_DIR), Catch::Contains("no such file"));
}

TEST_CASE("cluster: shipped files have the figures that their README names") {
  struct Shipped {
    const char* file;
    std::size_t nodes, gpus;
    double teraflops, gigabytes, island_gigabytes_per_second, nic_gigabytes_per_second;  // the last 0 = no second node
  };
  const Shipped shipped[] = {
      {"dgx-a100", 1, 8, 312, 80, 240, 0},
      {"dgx-a100-40gb", 1, 8, 312, 40, 240, 0},
      {"dgx-a100-cluster", 20, 160, 312, 80, 240, 23},
      {"dgx-h100-2", 2, 16, 989.4, 80, 370.8, 46},
      {"dgx-h100", 64, 512, 989.4, 80, 370.8, 46},
      {"h800", 1, 8, 989.4, 80, 160, 0},
      {"h20", 1, 8, 148, 96, 370.8, 0},
      {"gb200-nvl72", 18, 72, 2500, 186, 721.8, 721.8},
      {"l20-pcie-8", 1, 8, 119.5, 48, 24, 0},
      {"rtx4090-pcie-8", 1, 8, 165.2, 24, 12.9, 0},
  };
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(HSAP_SOURCE_DIR "/topologies"))
    files += entry.path().extension() == ".yaml";
  CHECK(files == std::size(shipped));
  for (const Shipped& expected : shipped) {
    CAPTURE(expected.file);
    const ClusterTopology cluster =
        ClusterTopology::read(std::string(HSAP_SOURCE_DIR "/topologies/") + expected.file + ".yaml");
    CHECK(cluster.nodes() == expected.nodes);
    CHECK(cluster.gpus() == expected.gpus);
    CHECK(cluster.device(0).peak_flops_per_second == Approx(expected.teraflops * 1e12));
    CHECK(cluster.device(0).memory_bytes == Approx(expected.gigabytes * 1e9));
    CHECK(cluster.route(0, 1).bytes_per_second == Approx(expected.island_gigabytes_per_second * 1e9).epsilon(2e-3));
    CHECK(cluster.route(0, 1).latency_seconds < 10e-6);
    if (expected.nic_gigabytes_per_second > 0) {
      const GpuId other_node = static_cast<GpuId>(expected.gpus / expected.nodes);
      CHECK(cluster.route(0, other_node).bytes_per_second == Approx(expected.nic_gigabytes_per_second * 1e9));
    }
    for (const Link& link : cluster.links()) {
      CHECK(link.latency_seconds > 0);
      CHECK(link.bytes_per_second > 1e9);
    }
  }
}

TEST_CASE("cluster: the example in the README reads as it says") {
  std::ifstream file(HSAP_SOURCE_DIR "/topologies/README.md");
  const std::string readme{std::istreambuf_iterator<char>(file), {}};
  const std::size_t begin = readme.find("```yaml\n") + 8;
  const ClusterTopology cluster = parse(readme.substr(begin, readme.find("```", begin) - begin));
  CHECK(cluster.gpus() == 8);
  CHECK(cluster.route(0, 5).latency_seconds == Approx(14e-6));
  CHECK(cluster.route(0, 5).bytes_per_second == Approx(23e9));
  CHECK(cluster.route(0, 6).latency_seconds == Approx(14.4e-6));
}

}  // namespace
}  // namespace hsap
