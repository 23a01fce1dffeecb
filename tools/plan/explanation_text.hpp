// An explained plan for people: sections of aligned tables, the largest things first.
#pragma once

#include <optional>
#include <string>

#include "planner/search/explanation/explanation.hpp"
#include "tools/plan_file.hpp"

namespace hsap {

/// What `explain` prints. All that it refers to must outlive it.
struct ExplainedPlan {
  const PlanFile& plan;
  const ClusterTopology& cluster;
  const std::string& evaluator;  ///< that `timeline` is of
  const Timeline& timeline;
  const Explanation& explanation;
  std::optional<RankId> rank;  ///< whose ops are wanted
  std::size_t documents = 0;   ///< shown in text

  /// Of the plan's objective, forward + backward.
  double seconds() const { return explanation.forward.causes.seconds + explanation.backward.causes.seconds; }
  double bound_seconds() const { return explanation.forward.causes.bound_seconds + explanation.backward.causes.bound_seconds; }
};

/// Ends with a newline; no line is longer than kLineWidth.
std::string explanation_text(const ExplainedPlan& explained);

}  // namespace hsap
