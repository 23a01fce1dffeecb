// From a ranking to the proved plan of its winner: what `plan` writes and `explain` explains.
#pragma once

#include <string>
#include <vector>

#include "tools/plan/ranking.hpp"
#include "tools/plan_file.hpp"

namespace hsap {

/// The best outcome, or the only strategy that was asked for, whatever attention it serves. Throws InvalidInput when there is
/// none, with the reason.
const Outcome& chosen_outcome(const Ranking& ranking, const std::vector<std::string>& asked);

/// Its schedule, proved within the memory of the cluster's smallest GPU. `evaluator` names the predictor that ranked.
PlanFile make_plan(const PlanningInputs& inputs, const Ranking& ranking, const Outcome& outcome, const std::string& evaluator);

}  // namespace hsap
