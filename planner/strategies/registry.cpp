// The list of all strategies: one line each. Every strategy file defines the function declared here.
#include <algorithm>

#include "planner/ir/errors.hpp"
#include "planner/strategies/strategy.hpp"

namespace hsap {

const Strategy& hsap_strategy();
const Strategy& ulysses_strategy();
const Strategy& usp_strategy();
const Strategy& zigzag_strategy();
const Strategy& ring_strategy();
const Strategy& stripe_strategy();
const Strategy& burst_strategy();
const Strategy& allgather_strategy();
const Strategy& blockdiag_strategy();
const Strategy& distflashattn_strategy();
const Strategy& magi_strategy();
const Strategy& dcp_strategy();
const Strategy& lasp_strategy();

const std::vector<const Strategy*>& all_strategies() {
  static const std::vector<const Strategy*> strategies{
      &hsap_strategy(),   &ulysses_strategy(), &usp_strategy(),       &zigzag_strategy(),    &ring_strategy(),
      &stripe_strategy(), &burst_strategy(),   &allgather_strategy(), &blockdiag_strategy(), &distflashattn_strategy(),
      &magi_strategy(),   &dcp_strategy(),     &lasp_strategy(),
  };
  return strategies;
}

namespace {

template <class Predicate>
std::string names_of(const Predicate& wanted) {
  std::string names;
  for (const Strategy* strategy : all_strategies())
    if (wanted(*strategy)) names += (names.empty() ? "" : ", ") + strategy->name();
  return names;
}

}  // namespace

std::string strategies_serving(AttentionKind kind) {
  return names_of([&](const Strategy& strategy) { return strategy.serves(kind); });
}

const Strategy& find_strategy(const std::string& name) {
  const auto& all = all_strategies();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Strategy* strategy) { return strategy->name() == name; });
  if (found == all.end())
    throw InvalidInput("strategy: found \"" + name + "\", expected one of " + names_of([](const Strategy&) { return true; }));
  return **found;
}

}  // namespace hsap
