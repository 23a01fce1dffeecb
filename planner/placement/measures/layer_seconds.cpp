#include "planner/placement/measures/layer_seconds.hpp"

#include <algorithm>

namespace hsap {

double layer_seconds(const Traffic& traffic, const LayerCosts& layer, KvExchange exchange) {
  const double over_island = layer.bytes_per_kv_token / layer.island_bytes_per_second;  // seconds of a key
  const double over_nic = layer.bytes_per_kv_token / layer.nic_bytes_per_second;
  const auto per_node = static_cast<std::size_t>(traffic.ranks_per_node);
  double slowest = 0;
  for (std::size_t i = 0; i < traffic.ranks.size(); ++i) {
    const RankTraffic& rank = traffic.ranks[i];
    const std::size_t node = i / per_node;
    const std::size_t nics = std::min(per_node, traffic.ranks.size() - node * per_node);
    const auto received = static_cast<double>(rank.received);
    const auto from_others = static_cast<double>(rank.received_from_other_nodes);
    const double communication =
        exchange == KvExchange::direct
            ? std::max({(received - from_others) * over_island, from_others * over_nic,
                        static_cast<double>(rank.sent) * over_island})
            : std::max(static_cast<double>(traffic.into_nodes[node]) / static_cast<double>(nics) * over_nic,
                       received * over_island);
    const double attention = static_cast<double>(rank.pairs) * layer.seconds_per_pair;
    slowest =
        std::max(slowest, std::max(attention, communication) + static_cast<double>(rank.tokens) * layer.seconds_per_token);
  }
  return slowest;
}

}  // namespace hsap
