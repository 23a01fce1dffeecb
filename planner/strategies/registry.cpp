// The list of all strategies, in the order of the README's table: one line each. The file planner/strategies/NAME.cpp defines
// const Strategy& NAME_strategy().
#include <algorithm>

#include "planner/ir/errors.hpp"
#include "planner/strategies/strategy.hpp"

namespace hsap {

// clang-format off
#define HSAP_STRATEGIES(add) \
  add(hsap) \
  add(ulysses) \
  add(usp) \
  add(te_a2a_p2p) \
  add(double_ring) \
  add(zigzag) \
  add(ring) \
  add(stripe) \
  add(burst) \
  add(allgather) \
  add(wlb) \
  add(megatron_sp) \
  add(blockdiag) \
  add(distflashattn) \
  add(magi) \
  add(dcp) \
  add(hybrid_cp) \
  add(zeppelin) \
  add(lasp) \
  add(lasp2) \
  add(zeco)
// clang-format on

#define HSAP_DECLARE(name) const Strategy& name##_strategy();
HSAP_STRATEGIES(HSAP_DECLARE)

const std::vector<const Strategy*>& all_strategies() {
#define HSAP_LIST(name) &name##_strategy(),
  static const std::vector<const Strategy*> strategies{HSAP_STRATEGIES(HSAP_LIST)};
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
