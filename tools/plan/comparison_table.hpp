// A comparison for people.
#pragma once

#include <string>

#include "tools/plan/ranking.hpp"

namespace hsap {

/// The table, best first, then reasons, the best, the lower bound and what the numbers are. Lines up to kLineWidth wide.
std::string comparison_table(const Ranking& ranking, const std::string& evaluator);

}  // namespace hsap
