#include "planner/strategies/head_parallel_ring.hpp"

#include <utility>

#include "planner/placement/placement.hpp"
#include "planner/strategies/degree_checks.hpp"
#include "planner/strategies/head_exchange.hpp"

namespace hsap {

HeadParallelRing::HeadParallelRing(std::string name, std::string summary)
    : name_(std::move(name)), summary_(std::move(summary)) {}

std::vector<Degrees> HeadParallelRing::degrees(const Problem& problem) const { return head_parallel_degrees_of(problem); }

Schedule HeadParallelRing::compile(const Problem& problem, const Degrees& degrees, const StrategyOptions& options) const {
  std::vector<TokenSet> owned;
  for (const TokenSet& group : place_zigzag(problem.mask, degrees.inter))
    for (TokenSet& tokens : split_rows(group, degrees.intra)) owned.push_back(std::move(tokens));
  ProgramBuilder builder(name_, degrees, problem, std::move(owned));
  with_head_exchange(builder, degrees, [&](ProgramBuilder& b, const std::vector<std::vector<View>>& views) {
    for (std::size_t member = 0; member < views.front().size(); ++member) {
      std::vector<RingPlace> places;
      for (const std::vector<View>& group : views) places.push_back(place_by_halves(b, group[member]));
      run(b, std::move(places), problem, degrees, options);
    }
  });
  return builder.take();
}

}  // namespace hsap
