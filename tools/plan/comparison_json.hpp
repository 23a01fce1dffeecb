// A comparison for programs.
#pragma once

#include <nlohmann/json.hpp>

#include "tools/plan/ranking.hpp"

namespace hsap {

/// {inputs, lower_bound_seconds, best, results}. `best` is the name of the best strategy (null when there is none); its row is
/// the first one of that name, as results are sorted best first. Rows of refused strategies have null for every number.
nlohmann::ordered_json comparison_json(const PlanningInputs& inputs, const Ranking& ranking, const RankingOptions& options);

}  // namespace hsap
