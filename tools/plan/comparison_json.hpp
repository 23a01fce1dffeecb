// A comparison for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tools/plan/ranking.hpp"

namespace hsap {

/// {inputs, lower_bound_seconds, bounds, best, best_causes, results}. `bounds`: all that are known, the one that binds first.
/// `best` is the name of the best strategy (null when there is none); its row is the first one of that name, as results are
/// sorted best first. `best_causes`: its distance to the compute bound of the objective, by phase and cause. Rows of refused
/// strategies have null for every number; layer times are null where the model does not tell its linear work.
nlohmann::ordered_json comparison_json(const PlanningInputs& inputs, const Ranking& ranking, const RankingOptions& options);

}  // namespace hsap
