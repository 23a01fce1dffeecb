#include "planner/strategies/degree_checks.hpp"

#include <algorithm>

#include "planner/ir/errors.hpp"
#include "planner/strategies/head_exchange.hpp"

namespace hsap {

std::vector<Degrees> all_degrees(int ranks) {
  std::vector<Degrees> result;
  for (int intra = 1; intra <= ranks; ++intra)
    if (ranks % intra == 0) result.push_back({intra, ranks / intra});
  return result;
}

std::vector<Degrees> head_parallel_degrees_of(const Problem& problem) {
  std::vector<Degrees> result = all_degrees(problem.ranks);
  std::erase_if(result, [&](const Degrees& d) { return refuse_head_degree(problem, d.intra).has_value(); });
  return result;
}

void require_kind(const Strategy& strategy, const Problem& problem) {
  if (!strategy.serves(problem.shape.kind))
    throw InvalidInput(strategy.name() + ": does not serve " + to_string(problem.shape.kind) +
                       " attention; strategies that do: " + strategies_serving(problem.shape.kind));
}

void require_degrees(const Strategy& strategy, const Problem& problem, const Degrees& degrees) {
  require_kind(strategy, problem);
  const std::vector<Degrees> valid = strategy.degrees(problem);
  if (std::find(valid.begin(), valid.end(), degrees) != valid.end()) return;
  std::string text = strategy.name() + ": ";
  if (degrees.intra * degrees.inter != problem.ranks)
    text += "degrees " + to_string(degrees) + " need " + std::to_string(degrees.intra * degrees.inter) + " ranks, there are " +
            std::to_string(problem.ranks);
  else if (const auto heads = refuse_head_degree(problem, degrees.intra))
    text += *heads;
  else
    text += "degrees " + to_string(degrees) + " are not of its form";
  std::string works;
  for (const Degrees& d : valid) works += (works.empty() ? "" : ", ") + to_string(d);
  const std::string here = "; on " + std::to_string(problem.ranks) + " ranks ";
  if (!works.empty()) {
    text += here + strategy.name() + " works with " + works;
  } else if (const std::vector<Degrees> mixed = head_parallel_degrees_of(problem); !mixed.empty()) {
    const std::string intra = std::to_string(mixed.back().intra), inter = std::to_string(mixed.back().inter);
    text += here + "use ulysses " + intra + " x ring " + inter + " (usp or hsap " + to_string(mixed.back()) + "), or ulysses " +
            intra + " x dp " + inter;
  }
  throw InvalidInput(text);
}

void require_options(const Strategy& strategy, const StrategyOptions& options) {
  const std::vector<std::string> known = strategy.options();
  for (const OptionField& field : option_fields()) {
    if (field.value(options).empty() || std::find(known.begin(), known.end(), field.name) != known.end()) continue;
    std::string names;
    for (const std::string& name : known) names += (names.empty() ? "; it has " : ", ") + name;
    throw InvalidInput(strategy.name() + ": has no option " + field.name + (names.empty() ? "; it has none" : names));
  }
}

}  // namespace hsap
