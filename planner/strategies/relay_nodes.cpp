#include "planner/strategies/relay_nodes.hpp"

#include <algorithm>
#include <bit>

namespace hsap {

RelayNodes::RelayNodes(const std::vector<int>& nodes_of_groups, const RelayRules& rules) : doubling(rules.doubling) {
  for (std::size_t g = 0; g < nodes_of_groups.size(); ++g) {
    if (g == 0 || nodes_of_groups[g] != nodes_of_groups[g - 1]) first_group.push_back(static_cast<int>(g));
    node_of_group.push_back(static_cast<int>(first_group.size()) - 1);
  }
  first_group.push_back(static_cast<int>(nodes_of_groups.size()));
  if (nodes() == 1) {
    inside_stages = rules.stages;
  } else {
    between_stages = doubling ? std::max(rules.stages, doublings(nodes())) : rules.stages;
  }
}

int doublings(int nodes) { return static_cast<int>(std::bit_width(static_cast<unsigned>(nodes - 1))); }

}  // namespace hsap
