#include "planner/strategies/relay_nodes.hpp"

namespace hsap {

RelayNodes::RelayNodes(const std::vector<int>& nodes_of_groups, const RelayRules& rules) {
  for (std::size_t g = 0; g < nodes_of_groups.size(); ++g) {
    if (g == 0 || nodes_of_groups[g] != nodes_of_groups[g - 1]) first_group.push_back(static_cast<int>(g));
    node_of_group.push_back(static_cast<int>(first_group.size()) - 1);
  }
  first_group.push_back(static_cast<int>(nodes_of_groups.size()));
  inside_stages = nodes() == 1 ? rules.stages : 1;
  between_stages = nodes() == 1 ? 0 : rules.stages;
}

}  // namespace hsap
