#include "planner/inputs/cluster_topology.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <mutex>
#include <numeric>
#include <set>
#include <sstream>
#include <unordered_map>

#include "planner/inputs/cluster/cluster_description.hpp"
#include "planner/inputs/cluster/cluster_graph.hpp"
#include "planner/ir/errors.hpp"

namespace hsap {
namespace {

/// The whole machine; shared by all choices of GPUs made from it.
struct Machine {
  explicit Machine(ClusterDescription cluster) : description(std::move(cluster)), graph(description) {}
  ClusterDescription description;
  ClusterGraph graph;
};

/// Ranks of the values among the different values: {9, 4, 9} -> {1, 0, 1}.
std::vector<std::uint32_t> renumbered(const std::vector<std::size_t>& values) {
  const std::set<std::size_t> different(values.begin(), values.end());
  const std::vector<std::size_t> sorted(different.begin(), different.end());
  std::vector<std::uint32_t> ranks;
  for (const std::size_t value : values) {
    ranks.push_back(static_cast<std::uint32_t>(std::lower_bound(sorted.begin(), sorted.end(), value) - sorted.begin()));
  }
  return ranks;
}

/// Empty, or one line naming the nodes (by their number in the file) that are used in part.
std::vector<std::string> remarks_on_nodes(const std::vector<std::size_t>& nodes, std::size_t gpus_per_node) {
  std::map<std::size_t, std::size_t> used;
  for (const std::size_t node : nodes) ++used[node];
  constexpr std::size_t kNamed = 4;
  std::size_t partial = 0;
  std::string text;
  for (const auto& [node, count] : used) {
    if (count == gpus_per_node || ++partial > kNamed) continue;
    text += (partial == 1 ? "node " : ", node ") + std::to_string(node) + " uses " + std::to_string(count) + " of " +
            std::to_string(gpus_per_node) + " GPUs";
  }
  if (partial == 0) return {};
  if (partial > kNamed) text += ", and " + std::to_string(partial - kNamed) + " more nodes";
  return {std::to_string(nodes.size()) + " GPUs do not fill nodes of " + std::to_string(gpus_per_node) + ": " + text};
}

}  // namespace

struct ClusterTopology::Impl {
  /// Routes of one source GPU, found on first use. A node-based map: references stay valid.
  struct Routes {
    std::mutex mutex;
    std::unordered_map<GpuId, Route> by_target;
  };

  Impl(std::shared_ptr<const Machine> whole, std::vector<GpuId> gpus)
      : machine(std::move(whole)), chosen(std::move(gpus)), routes(chosen.size()) {
    const ClusterDescription& description = machine->description;
    std::vector<std::size_t> nodes, islands, pods;
    for (const GpuId gpu : chosen) {
      nodes.push_back(gpu / description.gpus_per_node);
      islands.push_back(gpu / description.island_gpus);
      const std::size_t first_node = islands.back() * description.island_gpus / description.gpus_per_node;
      pods.push_back(description.network ? first_node / description.network->nodes_per_leaf : 0);
    }
    node_of = renumbered(nodes);
    island_of = renumbered(islands);
    pod_of = renumbered(pods);
    node_count = chosen.empty() ? 0 : *std::max_element(node_of.begin(), node_of.end()) + 1;
    remarks = remarks_on_nodes(nodes, description.gpus_per_node);
  }

  std::shared_ptr<const Machine> machine;
  std::vector<GpuId> chosen;  // our GPU -> GPU of the file
  std::vector<std::uint32_t> node_of, island_of, pod_of;
  std::size_t node_count = 0;
  std::vector<std::string> remarks;
  mutable std::vector<Routes> routes;  // by source
};

ClusterTopology::ClusterTopology(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

ClusterTopology ClusterTopology::read(const std::filesystem::path& file) {
  constexpr std::uintmax_t kLargest = 1 << 20;  // bytes; ours have about 2,000
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) {
    throw InvalidInput(file.string(), 0, "no such file, expected a cluster YAML file or the name of a built-in cluster");
  }
  if (std::filesystem::file_size(file, error) > kLargest) {
    throw InvalidInput(file.string(), 0, "this is larger than 1 MiB, no cluster description (format: topologies/README.md)");
  }
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream) throw InvalidInput(file.string(), 0, "cannot be read");
  return parse(text.str(), file.string());
}

ClusterTopology ClusterTopology::parse(const std::string& text, const std::string& source) {
  auto machine = std::make_shared<const Machine>(parse_cluster_yaml(text, source));
  std::vector<GpuId> all(machine->description.gpus());
  std::iota(all.begin(), all.end(), GpuId{0});
  return ClusterTopology(std::make_shared<const Impl>(std::move(machine), std::move(all)));
}

const std::string& ClusterTopology::name() const { return impl_->machine->description.name; }
std::size_t ClusterTopology::gpus() const { return impl_->chosen.size(); }
const DeviceKind& ClusterTopology::device(GpuId) const { return impl_->machine->description.device; }
std::uint32_t ClusterTopology::node_of(GpuId gpu) const { return impl_->node_of.at(gpu); }
std::uint32_t ClusterTopology::island_of(GpuId gpu) const { return impl_->island_of.at(gpu); }
std::uint32_t ClusterTopology::pod_of(GpuId gpu) const { return impl_->pod_of.at(gpu); }
std::size_t ClusterTopology::nodes() const { return impl_->node_count; }
const std::vector<Link>& ClusterTopology::links() const { return impl_->machine->graph.links(); }
const std::vector<std::string>& ClusterTopology::remarks() const { return impl_->remarks; }

const Route& ClusterTopology::route(GpuId from, GpuId to) const {
  Impl::Routes& routes = impl_->routes.at(from);
  const std::lock_guard lock(routes.mutex);
  const auto known = routes.by_target.find(to);
  if (known != routes.by_target.end()) return known->second;
  return routes.by_target.emplace(to, impl_->machine->graph.route(impl_->chosen[from], impl_->chosen.at(to))).first->second;
}

ClusterTopology ClusterTopology::take(const std::vector<GpuId>& gpus) const {
  if (gpus.empty()) throw InvalidInput("no GPU of " + name() + " is chosen, expected at least one");
  std::vector<GpuId> chosen;
  std::set<GpuId> seen;
  for (const GpuId gpu : gpus) {
    if (gpu >= this->gpus()) {
      throw InvalidInput("GPU " + std::to_string(gpu) + " is not in " + name() + ", expected 0 to " +
                         std::to_string(this->gpus() - 1));
    }
    if (!seen.insert(gpu).second) throw InvalidInput("GPU " + std::to_string(gpu) + " is named twice, expected each GPU once");
    chosen.push_back(impl_->chosen[gpu]);
  }
  return ClusterTopology(std::make_shared<const Impl>(impl_->machine, std::move(chosen)));
}

ClusterTopology ClusterTopology::take_first(std::size_t count) const {
  if (count < 1 || count > gpus()) {
    throw InvalidInput(name() + " has " + std::to_string(gpus()) + " GPUs, " + std::to_string(count) +
                       " were asked for; expected 1 to " + std::to_string(gpus()));
  }
  std::vector<GpuId> first(count);
  std::iota(first.begin(), first.end(), GpuId{0});
  return take(first);
}

}  // namespace hsap
