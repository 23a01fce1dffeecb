#include "planner/packing/token_room.hpp"

#include "planner/ir/memory.hpp"
#include "planner/search/compare.hpp"

namespace hsap {

namespace {

/// Attention's peak on one rank, in which nothing but tokens counts.
double attention_bytes_per_token(const AttentionShape& shape, const ClusterTopology& cluster) {
  constexpr Token kTokens = 1024;
  const Problem problem = make_problem(shape, {0, kTokens}, cluster.take_first(1));
  return peak_memory(find_strategy("hsap").lower(problem, {1, 1})).peak_bytes / kTokens;
}

}  // namespace

RankMemory rank_memory(const ModelShape& model, const LayerKind& kind, const ClusterTopology& cluster, int ranks) {
  double parameters = 0;
  for (const LayerKind& of_model : model.kinds)
    parameters += of_model.known_linear_parameters() * static_cast<double>(of_model.layers.size());
  const double bytes = bytes_per_element(kind.attention.dtype);
  const double linear_bytes_per_token = 2 * kind.known_linear_parameters() / model.hidden * bytes;
  return {
      .bytes = kUsableMemory * cluster.device(0).memory_bytes,
      .state_bytes = parameters * (4.0 / ranks + 12.0 / static_cast<double>(cluster.gpus())),
      .bytes_per_token = static_cast<double>(model.layers) * model.hidden * bytes +
                         attention_bytes_per_token(kind.attention, cluster) + linear_bytes_per_token,
  };
}

}  // namespace hsap
