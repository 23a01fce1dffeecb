#include "planner/strategies/ring_strategy.hpp"

#include <utility>

#include "planner/strategies/degree_checks.hpp"
#include "planner/strategies/ring_pass.hpp"

namespace hsap {

RingStrategy::RingStrategy(std::string name, std::string summary, Place place)
    : name_(std::move(name)), summary_(std::move(summary)), place_(place) {}

Schedule RingStrategy::lower(const Problem& problem, const Degrees& degrees, const StrategyOptions&) const {
  require_degrees(*this, problem, degrees);
  ProgramBuilder builder(name_, degrees, problem, place_(problem.mask, problem.ranks));
  std::vector<View> ring;
  for (RankId rank = 0; rank < static_cast<RankId>(problem.ranks); ++rank) ring.push_back(boundary_view(builder, rank));
  ring_pass(builder, ring);
  return builder.take();
}

}  // namespace hsap
