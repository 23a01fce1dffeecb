#include "planner/strategies/strategy.hpp"

#include <algorithm>

namespace hsap {

std::optional<int> Problem::uniform_ranks_per_node() const {
  if (node_of_rank.empty()) return std::nullopt;
  const int nodes = node_of_rank.back() - node_of_rank.front() + 1;
  if (ranks % nodes != 0) return std::nullopt;
  const int per_node = ranks / nodes;
  for (int rank = 0; rank < ranks; ++rank)
    if (node_of_rank[static_cast<std::size_t>(rank)] - node_of_rank.front() != rank / per_node) return std::nullopt;
  return per_node;
}

std::string to_string(const StrategyOptions& options) {
  std::string text = options.placement;
  if (options.stages > 0)
    text += (text.empty() ? "" : ", ") + std::to_string(options.stages) + (options.stages == 1 ? " stage" : " stages");
  return text;
}

std::vector<StrategyOptions> Strategy::variants(const Problem&, const Degrees&) const { return {StrategyOptions{}}; }

}  // namespace hsap
