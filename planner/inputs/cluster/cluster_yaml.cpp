// The reader of cluster YAML. Bounds on the numbers are wide: they are there to catch a slip of a unit or of a factor.
#include <algorithm>
#include <set>
#include <utility>

#include "planner/inputs/cluster/cluster_description.hpp"
#include "planner/inputs/cluster/other_formats.hpp"
#include "planner/inputs/cluster/yaml_document.hpp"
#include "planner/inputs/cluster/yaml_section.hpp"
#include "planner/ir/errors.hpp"
#include "planner/ir/units.hpp"

namespace hsap {
namespace {

const YamlSection::Keys kRootKeys{"name", "nodes", "gpus_per_node", "gpu", "island"};
constexpr std::size_t kMostGpus = 131072;        // assumed: the largest training clusters of 2025 have about 100,000
constexpr std::size_t kMostGpusPerNode = 1024;   // assumed: a bare switch for experiments; servers have up to 16
constexpr std::size_t kMostIslandsPerNode = 16;  // assumed: NUMA domains of a server; wires between them grow as the square
constexpr std::size_t kMostNicsPerNode = 64;     // assumed: the most that we saw is 32 (AWS P5)
constexpr std::size_t kMostNics = 4 * kMostGpus;
constexpr const char* kAdvice =
    "hsap reads cluster YAML: copy one of topologies/*.yaml and change it (format: topologies/README.md)";

/// ASTRA-sim ships files with "tbd" for numbers: say where, so that nobody takes them for measured ones.
void refuse_numberless_values(const YAML::Node& map, const std::string& source, const std::string& format) {
  for (const auto& entry : map) {
    if (!entry.second.IsSequence() || entry.first.Scalar() == "topology") continue;
    for (const YAML::Node& value : entry.second) {
      if (number_in<double>(value)) continue;
      throw InvalidInput(source, line_of(value.Mark()),
                         "this is " + format + " whose key \"" + entry.first.Scalar() +
                             "\" has no number: " + what_is_found(value) + "; " + kAdvice);
    }
  }
}

/// The top-level map. Refuses what is no cluster description at all.
YAML::Node load(const std::string& text, const std::string& source) {
  YAML::Node document;
  std::string problem = "it is no YAML map with the keys " + joined(kRootKeys);
  std::size_t line = 0;
  try {
    document = load_yaml_document(text);
  } catch (const YAML::Exception& error) {
    problem = "it is no YAML (" + error.msg + ")";
    line = line_of(error.mark);
  }
  const auto is_given = [&](const std::string& key) { return static_cast<bool>(std::as_const(document)[key]); };
  if (document.IsMap() && std::any_of(kRootKeys.begin(), kRootKeys.end(), is_given)) return document;

  const std::string other = recognise_other_format(text);
  if (document.IsMap() && other == "an ASTRA-sim network file") refuse_numberless_values(document, source, other);
  if (!other.empty()) throw InvalidInput(source, 0, "this is " + other + ", no cluster description; " + kAdvice);
  throw InvalidInput(source, line, "this is no cluster description: " + problem + "; " + kAdvice);
}

double latency(const YamlSection& section, const std::string& key) {
  return section.quantity(key, parse_seconds, "0.001 ns", "100 ms");
}

/// Keys bandwidth, latency and optionally efficiency.
Wire read_wire(const YamlSection& section) {
  const double nominal = section.quantity("bandwidth", parse_bytes_per_second, "1 MB/s", "100 TB/s");
  const double efficiency =
      section.has("efficiency") ? section.number("efficiency", 0.01, 1, "payload / nominal, from 0.01 to 1") : 1;
  return {nominal * efficiency, latency(section, "latency")};
}

DeviceKind read_device(const YamlSection& gpu) {
  DeviceKind device;
  device.name = gpu.text("kind");
  device.peak_flops_per_second = gpu.quantity("bf16_dense", parse_flops_per_second, "1 GFLOP/s", "100 PFLOP/s");
  device.memory_bytes_per_second = gpu.quantity("memory_bandwidth", parse_bytes_per_second, "1 GB/s", "1000 TB/s");
  device.memory_bytes = gpu.quantity("memory", parse_bytes, "1 MiB", "100 TiB");
  device.multiprocessors = static_cast<int>(gpu.count("multiprocessors", 10000));
  return device;
}

IslandKind read_island_kind(const YamlSection& island) {
  const std::string kind = island.text("kind");
  if (kind == "nvlink") return IslandKind::nvlink;
  if (kind == "pcie") return IslandKind::pcie;
  if (kind == "plain") return IslandKind::plain;
  island.refuse("kind", what_is_found(island.at("kind")) + ", expected nvlink, pcie or plain");
}

/// Islands fill nodes, or nodes fill islands.
std::size_t read_island_gpus(const YamlSection& island, const ClusterDescription& cluster) {
  const auto works = [&](std::size_t n) {
    return cluster.gpus_per_node % n == 0 || (n % cluster.gpus_per_node == 0 && cluster.gpus() % n == 0);
  };
  const std::size_t gpus = island.count("gpus", cluster.gpus());
  if (works(gpus)) return gpus;
  std::string choices;
  for (std::size_t n = 1; n <= cluster.gpus(); ++n) {
    if (works(n)) choices += (choices.empty() ? "" : ", ") + std::to_string(n);
  }
  island.refuse("gpus", what_is_found(island.at("gpus")) +
                            ", expected a divisor of gpus_per_node, or a multiple of it that divides all " +
                            std::to_string(cluster.gpus()) + " GPUs: " + choices);
}

/// One NIC of `nics.serves`, in the order of the file.
std::vector<std::size_t> read_served_gpus(const YamlSection& nics, const YAML::Node& list, const std::string& nic,
                                          std::size_t gpus_per_node) {
  const std::string expected = ", expected a list of GPUs from 0 to " + std::to_string(gpus_per_node - 1);
  if (!list.IsSequence() || list.size() == 0) nics.refuse(list, "serves", nic + ": " + what_is_found(list) + expected);
  std::vector<std::size_t> gpus;
  for (const YAML::Node& item : list) {
    const auto gpu = number_in<std::size_t>(item);
    if (!gpu || *gpu >= gpus_per_node) nics.refuse(item, "serves", nic + ": " + what_is_found(item) + expected);
    if (std::find(gpus.begin(), gpus.end(), *gpu) != gpus.end()) {
      nics.refuse(item, "serves", nic + ": GPU " + std::to_string(*gpu) + " is named twice");
    }
    gpus.push_back(*gpu);
  }
  return gpus;
}

std::vector<std::vector<std::size_t>> read_nic_serves(const YamlSection& nics, const ClusterDescription& cluster) {
  const std::size_t gpus_per_node = cluster.gpus_per_node;
  const std::size_t most = std::min(kMostNicsPerNode, kMostNics / cluster.nodes);
  const YAML::Node& lists = nics.at("serves");
  if (!lists.IsSequence() || lists.size() == 0 || lists.size() > most) {
    nics.refuse("serves", what_is_found(lists) + ", expected 1 to " + std::to_string(most) +
                              " lists, the GPUs that each NIC of a node serves, such as [[0, 1], [2, 3]]");
  }
  std::vector<std::vector<std::size_t>> serves;
  std::set<std::size_t> served;
  for (const YAML::Node& list : lists) {
    serves.push_back(read_served_gpus(nics, list, "NIC " + std::to_string(serves.size()), gpus_per_node));
    served.insert(serves.back().begin(), serves.back().end());
  }
  for (std::size_t gpu = 0; gpu < gpus_per_node; ++gpu) {
    if (served.count(gpu) == 0) {
      nics.refuse("serves", "GPU " + std::to_string(gpu) + " is served by no NIC, expected every GPU of a node in some list");
    }
  }
  return serves;
}

NetworkDescription read_network(const YamlSection& network) {
  NetworkDescription description;
  const std::string shape = network.text("shape");
  if (shape != "rail-optimised" && shape != "leaf-spine") {
    network.refuse("shape", what_is_found(network.at("shape")) + ", expected rail-optimised or leaf-spine");
  }
  description.shape = shape == "leaf-spine" ? NetworkShape::leaf_spine : NetworkShape::rail_optimised;
  description.nodes_per_leaf = network.count("nodes_per_leaf", kMostGpus);
  description.oversubscription =
      network.number("oversubscription", 1, 1000, "bandwidth below a leaf / bandwidth of its uplink, from 1 (none) to 1000");
  description.leaf_latency_seconds = latency(network, "leaf_latency");
  description.spine_latency_seconds = latency(network, "spine_latency");
  return description;
}

}  // namespace

ClusterDescription parse_cluster_yaml(const std::string& text, const std::string& source) {
  const YamlSection root(source, load(text, source), kRootKeys, {"between_islands", "nics", "network"});
  ClusterDescription cluster;
  cluster.name = root.text("name");
  cluster.gpus_per_node = root.count("gpus_per_node", kMostGpusPerNode);
  cluster.nodes = root.count("nodes", kMostGpus / cluster.gpus_per_node);
  cluster.device = read_device(root.section("gpu", {"kind", "bf16_dense", "memory_bandwidth", "memory", "multiprocessors"}));

  const YamlSection island = root.section("island", {"kind", "gpus", "bandwidth", "latency"}, {"efficiency"});
  cluster.island_kind = read_island_kind(island);
  cluster.island_gpus = read_island_gpus(island, cluster);
  cluster.island_port = read_wire(island);

  const bool several_in_node = cluster.island_gpus < cluster.gpus_per_node;
  if (root.has("between_islands")) {
    const YamlSection between = root.section("between_islands", {"bandwidth", "latency"}, {"efficiency"});
    if (!several_in_node) root.refuse("between_islands", "a node holds one island only, expected no such key");
    if (cluster.gpus_per_node / cluster.island_gpus > kMostIslandsPerNode) {
      island.refuse("gpus", what_is_found(island.at("gpus")) + ", expected at most " + std::to_string(kMostIslandsPerNode) +
                                " islands in a node of " + std::to_string(cluster.gpus_per_node));
    }
    cluster.between_islands = read_wire(between);
  } else if (several_in_node) {
    island.refuse("gpus", "islands of " + std::to_string(cluster.island_gpus) + " in nodes of " +
                              std::to_string(cluster.gpus_per_node) +
                              " need the top-level key between_islands (bandwidth, latency)");
  }

  if (root.has("nics") != root.has("network")) {
    root.refuse(root.has("nics") ? "nics" : "network", "nics and network come together, expected both or neither");
  }
  if (root.has("nics")) {
    const YamlSection nics = root.section("nics", {"serves", "bandwidth", "latency"}, {"efficiency"});
    cluster.nic_serves = read_nic_serves(nics, cluster);
    cluster.nic = read_wire(nics);
    cluster.network =
        read_network(root.section("network", {"shape", "nodes_per_leaf", "oversubscription", "leaf_latency", "spine_latency"}));
  } else if (cluster.nodes > 1 && cluster.island_gpus < cluster.gpus()) {
    root.refuse("nodes", std::to_string(cluster.nodes) + " nodes without the keys nics and network cannot reach each other");
  }
  return cluster;
}

}  // namespace hsap
