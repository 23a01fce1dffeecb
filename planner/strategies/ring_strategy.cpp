#include "planner/strategies/ring_strategy.hpp"

#include <utility>

#include "planner/strategies/degree_checks.hpp"

namespace hsap {

RingStrategy::RingStrategy(std::string name, std::string summary, Place place, Split split)
    : name_(std::move(name)), summary_(std::move(summary)), place_(place), split_(split) {}

Schedule RingStrategy::lower(const Problem& problem, const Degrees& degrees, const StrategyOptions&) const {
  require_degrees(*this, problem, degrees);
  ProgramBuilder builder(name_, degrees, problem, place_(problem.mask, problem.ranks));
  std::vector<RingPlace> ring;
  for (RankId rank = 0; rank < static_cast<RankId>(problem.ranks); ++rank)
    ring.push_back(split_(builder, boundary_view(builder, rank)));
  ring_pass(builder, ring);
  return builder.take();
}

}  // namespace hsap
