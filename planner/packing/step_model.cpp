#include "planner/packing/step_model.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "planner/inputs/input_text.hpp"
#include "planner/ir/errors.hpp"
#include "planner/placement/bounds/compute_bound.hpp"
#include "planner/placement/bounds/topology.hpp"

namespace hsap {

namespace {

/// Of the cost of a rank above the mean: what the bounds on keys allow (BoundOptions has the same).
constexpr double kCostSlack = 0.01;

/// Keys are bounded where a row needs all keys before it.
bool sees_all_before(const AttentionShape& shape) {
  return shape.kind == AttentionKind::softmax && shape.mask.is_causal() && !shape.mask.left && !shape.mask.chunk;
}

}  // namespace

std::vector<int> possible_replicas(const ClusterTopology& cluster) {
  const int gpus = static_cast<int>(cluster.gpus());
  std::vector<int> replicas;
  for (int n = 1; n <= gpus; ++n)
    if (gpus % n == 0) replicas.push_back(n);
  return replicas;
}

Mesh make_mesh(const ClusterTopology& cluster, int replicas) {
  const std::vector<int> possible = possible_replicas(cluster);
  if (std::find(possible.begin(), possible.end(), replicas) == possible.end()) {
    std::vector<std::string> names;
    for (const int n : possible) names.push_back(std::to_string(n));
    throw InvalidInput(std::to_string(replicas) + " replicas: found " + std::to_string(cluster.gpus()) +
                       " GPUs, which these numbers of replicas divide: " + listed(names));
  }
  Mesh mesh{replicas, static_cast<int>(cluster.gpus()) / replicas, {}};
  for (int replica = 0; replica < replicas; ++replica) {
    std::map<std::uint32_t, int> of_node;
    int most = 0;
    for (int rank = replica * mesh.ranks; rank < (replica + 1) * mesh.ranks; ++rank)
      most = std::max(most, ++of_node[cluster.node_of(static_cast<GpuId>(rank))]);
    mesh.ranks_per_node.push_back(most);
  }
  return mesh;
}

StepModel::StepModel(StepCosts costs, Mesh mesh, Token tokens_per_rank)
    : costs_(std::move(costs)), mesh_(std::move(mesh)), tokens_per_rank_(tokens_per_rank) {
  constexpr Token kMost = 1'000'000'000'000;  // so that products of it stay numbers
  if (tokens_per_rank < 1 || tokens_per_rank > kMost)
    throw InvalidInput("tokens per rank: found " + std::to_string(tokens_per_rank) + ", expected at least 1 and at most " +
                       std::to_string(kMost));
}

Token StepModel::roomy_capacity() const {
  constexpr Token kPercent = 105;  // placement_room() has a law that keeps to it
  return mesh_.ranks == 1 ? capacity() : std::max<Token>(1, capacity() * 100 / kPercent);
}

double StepModel::micro_batch_seconds(std::size_t replica, const std::vector<Token>& lengths) const {
  if (lengths.empty()) return 0;
  double work = 0;
  for (const Token length : lengths) work += costs_.document_seconds(length);
  double seconds = work / mesh_.ranks;
  if (mesh_.ranks > 1 && sees_all_before(costs_.shape)) {
    const Token tokens = std::accumulate(lengths.begin(), lengths.end(), Token{0});
    const PlacementRoom room = placement_room(tokens, mesh_.ranks, tokens_per_rank_, costs_.barrier);
    const RankCaps caps = rank_caps(lengths, mesh_.ranks, room.token_cap, kCostSlack, costs_.layer.pairs_per_token());
    const LinkBounds links = link_bounds(lengths, mesh_.ranks, mesh_.ranks_per_node[replica], caps, costs_.layer);
    seconds = std::max(
        {seconds, links.into_ranks, links.into_nodes, links.longest_document_into_rank, links.longest_document_into_node});
  }
  return costs_.fixed_seconds + seconds;
}

std::vector<double> StepModel::replica_seconds(const StepPacking& packing, const std::vector<Token>& lengths) const {
  std::vector<double> seconds;
  for (std::size_t replica = 0; replica < packing.size(); ++replica) {
    seconds.push_back(0);
    for (const MicroBatch& micro_batch : packing[replica])
      seconds.back() += micro_batch_seconds(replica, lengths_of(micro_batch, lengths));
  }
  return seconds;
}

double StepModel::step_seconds(const StepPacking& packing, const std::vector<Token>& lengths) const {
  const std::vector<double> seconds = replica_seconds(packing, lengths);
  return *std::max_element(seconds.begin(), seconds.end());
}

PlacementRoom placement_room(Token tokens, int ranks, Token tokens_per_rank, bool barrier) {
  constexpr PlacementRoom kLaws[] = {{"cost-cut", 1.25}, {"cost-cut-tight", 1.05}, {"cost-cut-even", 1.02}};
  const double room = static_cast<double>(tokens_per_rank) * ranks / static_cast<double>(tokens);
  for (const PlacementRoom& law : kLaws)
    if (law.token_cap <= room && (!barrier || &law == std::end(kLaws) - 1)) return law;
  return {"zigzag", 1};
}

}  // namespace hsap
