#include "planner/strategies/ring_strategy.hpp"

#include <utility>

namespace hsap {

RingStrategy::RingStrategy(std::string name, std::string summary, Place place, Split split)
    : name_(std::move(name)), summary_(std::move(summary)), place_(place), split_(split) {}

Schedule RingStrategy::compile(const Problem& problem, const Degrees& degrees, const StrategyOptions& options) const {
  ProgramBuilder builder(name_, degrees, problem, place_(problem.mask, problem.ranks));
  std::vector<RingPlace> places;
  for (RankId rank = 0; rank < static_cast<RankId>(problem.ranks); ++rank)
    places.push_back(split_(builder, boundary_view(builder, rank)));
  run(builder, std::move(places), options);
  return builder.take();
}

void RingStrategy::run(ProgramBuilder& builder, std::vector<RingPlace> places, const StrategyOptions& options) const {
  ring_pass(builder, std::move(places), ring_rules(options));
}

RingRules ring_rules(const StrategyOptions& options) {
  return {.gradient = options.d_kv.value_or(DType::fp32), .keep_kv = options.kv == KvForBackward::kept};
}

}  // namespace hsap
