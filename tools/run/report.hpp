// What a run found out, for people and for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "backend/reference.hpp"
#include "tools/plan_file.hpp"

namespace hsap {

/// Largest relative error that counts as equal to the oracle: fp32 kernels against double precision.
inline constexpr double kTolerance = 1e-5;

struct RunReport {
  std::string plan_file;
  std::string backend;
  std::uint64_t seed = 0;               ///< of the values
  std::vector<double> forward_seconds;  ///< measured, one per repeat
  std::vector<double> backward_seconds;
  std::optional<RelativeErrors> errors;  ///< with --verify
  bool passed() const { return !errors || errors->largest() <= kTolerance; }
};

std::string report_text(const RunReport& report, const PlanFile& plan);
nlohmann::ordered_json report_json(const RunReport& report, const PlanFile& plan);
/// "largest relative error 3.1e-05 in dK is above the tolerance 1e-05".
std::string failure_text(const RunReport& report, const PlanFile& plan);

}  // namespace hsap
