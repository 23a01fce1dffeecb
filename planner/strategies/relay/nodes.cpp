#include "planner/strategies/relay/nodes.hpp"

#include <bit>
#include <string>

#include "planner/ir/errors.hpp"

namespace hsap {

namespace {

/// The most stages that ways can tell apart (Way::number).
constexpr int kMostStages = 4000;

/// Stages inside in rounds: one for what leaves the node, and four for the rest, so that a group waits for a quarter of it.
constexpr int kInsideInRounds = 1 + 4;

/// Rounds in which what one node has can be in so many, when all that have it pass it on: log2, rounded up.
int rounds_to_reach(int nodes) { return static_cast<int>(std::bit_width(static_cast<unsigned>(nodes - 1))); }

}  // namespace

RelayNodes::RelayNodes(const std::vector<int>& nodes_of_groups, const RelayRules& rules) : in_rounds(rules.in_rounds) {
  for (std::size_t g = 0; g < nodes_of_groups.size(); ++g) {
    if (g == 0 || nodes_of_groups[g] != nodes_of_groups[g - 1]) first_group.push_back(static_cast<int>(g));
    node_of_group.push_back(static_cast<int>(first_group.size()) - 1);
  }
  first_group.push_back(static_cast<int>(nodes_of_groups.size()));
  const int most = in_rounds ? kMostStages / 2 - rounds_to_reach(nodes()) : kMostStages;
  if (rules.stages > most)
    throw InvalidInput("stages: found " + std::to_string(rules.stages) + ", expected at most " + std::to_string(most));
  if (nodes() == 1) {
    inside_stages = rules.stages;
  } else {
    inside_stages = in_rounds ? kInsideInRounds : 1;
    full_stages = rules.stages;
    // A node may have twice as much to send as most have to take in, before rounds are full.
    between_stages = in_rounds ? 2 * rules.stages + rounds_to_reach(nodes()) : rules.stages;
  }
}

}  // namespace hsap
