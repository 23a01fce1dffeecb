#include "planner/search/objective.hpp"

#include "planner/ir/errors.hpp"

namespace hsap {

std::string to_string(Objective objective) { return objective == Objective::layer ? "layer" : "attention"; }

Objective parse_objective(const std::string& text) {
  for (const Objective objective : {Objective::layer, Objective::attention})
    if (text == to_string(objective)) return objective;
  throw InvalidInput("objective: found \"" + text + "\", expected layer (attention and linear work) or attention");
}

}  // namespace hsap
