#include "planner/placement/bounds/topology.hpp"

#include <algorithm>

#include "planner/placement/bounds/row_atomic_volume.hpp"

namespace hsap {

double volume_into_groups(const std::vector<Token>& lengths, int ranks, int ranks_per_group, const RankCaps& caps) {
  return ranks_per_group >= ranks ? 0 : row_atomic_volume(lengths, caps.of(ranks_per_group));
}

LinkBounds link_bounds(const std::vector<Token>& lengths, int ranks, int ranks_per_node, const RankCaps& caps,
                       const LayerCosts& layer) {
  const int per_node = std::min(ranks_per_node, ranks);
  const double linear = total_tokens(lengths) * layer.seconds_per_token / ranks;
  const double rank_seconds_per_key = layer.bytes_per_kv_token / layer.island_bytes_per_second;
  const double node_seconds_per_key = layer.bytes_per_kv_token / layer.nic_bytes_per_second;
  LinkBounds bounds;
  bounds.into_ranks = linear + row_atomic_volume(lengths, caps) * rank_seconds_per_key / ranks;
  bounds.into_nodes = linear + volume_into_groups(lengths, ranks, per_node, caps) * node_seconds_per_key / ranks;
  bounds.longest_document_into_rank = most_received_by_a_rank(lengths, caps) * rank_seconds_per_key;
  bounds.longest_document_into_node = most_received_by_a_rank(lengths, caps.of(per_node)) * node_seconds_per_key / per_node;
  return bounds;
}

}  // namespace hsap
