#include "planner/strategies/strategy.hpp"

#include "planner/strategies/degree_checks.hpp"

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

Schedule Strategy::lower(const Problem& problem, const Degrees& degrees, const StrategyOptions& options) const {
  require_degrees(*this, problem, degrees);
  require_options(*this, options);
  return compile(problem, degrees, options);
}

std::vector<StrategyOptions> Strategy::variants(const Problem&, const Degrees&) const { return {StrategyOptions{}}; }

std::vector<StrategyOptions> Strategy::refinements(const Problem&, const Degrees&, const StrategyOptions&) const { return {}; }

std::optional<StrategyOptions> Strategy::without_token_cap(const Problem&, const StrategyOptions&) const {
  return std::nullopt;
}

}  // namespace hsap
