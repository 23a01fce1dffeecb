// How far a plan is from the lower bound, and why: the names of the causes, told alike by compare, plan and explain.
#pragma once

#include <array>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "planner/search/compare.hpp"

namespace hsap {

struct CauseName {
  const char* key;  ///< in JSON
  const char* name;
  const char* meaning;
  double TimeCauses::*seconds;
};
/// In the order in which they are told.
const std::array<CauseName, 8>& cause_names();

/// {seconds, bound_seconds, busiest_rank, and each cause by its key}.
nlohmann::ordered_json causes_json(const TimeCauses& causes);

/// What the compute bound of `objective` is made of, in a few words.
std::string bound_meaning(Objective objective);

/// Two lines: under `label` the bound that binds, and, where there is a best outcome, how far it is above the compute bound and
/// why, largest cause first. Labels take `label_width` columns.
std::string distance_text(const Comparison& comparison, const std::string& label, std::size_t label_width);

}  // namespace hsap
