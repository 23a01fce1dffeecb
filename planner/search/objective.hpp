// What a search is after: the time of a whole layer, or of its attention alone. It decides what is ranked, what placements
// balance and which bound the distance is measured to.
#pragma once

#include <string>

namespace hsap {

enum class Objective { layer, attention };
std::string to_string(Objective objective);
/// "layer" or "attention". Throws InvalidInput.
Objective parse_objective(const std::string& text);

}  // namespace hsap
