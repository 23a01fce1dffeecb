// What a schedule does and why it takes as long as it does, as facts: tools/ makes text and JSON of them.
#pragma once

#include <vector>

#include "planner/ir/memory.hpp"
#include "planner/search/explanation/critical_path.hpp"
#include "planner/search/explanation/placement_facts.hpp"
#include "planner/search/explanation/time_causes.hpp"
#include "planner/search/explanation/traffic_facts.hpp"

namespace hsap {

/// One phase of it.
struct PhaseExplanation {
  PhaseTraffic traffic;
  std::vector<PathStep> critical_path;
  std::vector<double> idle_seconds;  ///< by rank
  RankWaits most_waiting, least_waiting;
  TimeCauses causes;
};

/// The rank with the largest peak (the first such).
struct MemoryFacts {
  RankId rank = 0;
  MemoryUse use;
  std::vector<MemoryTerm> terms;  ///< alive at its peak, largest first
};

struct Explanation {
  PlacementFacts placement;
  PhaseExplanation forward, backward;
  MemoryFacts memory;
};
inline const PhaseExplanation& phase_of(const Explanation& explanation, Phase phase) {
  return phase == Phase::forward ? explanation.forward : explanation.backward;
}

/// `documents`: those of the batch, which the results should respect. `timeline` is what a predictor said of `schedule` on
/// `cluster`. `work` and `uncapped` as time_causes() takes them. Linear in ops, messages and ranges up to logarithms. Throws
/// InvalidInput as op_graph() does.
Explanation explain(const Schedule& schedule, const DocumentMask& documents, const LayerTimeline& timeline,
                    const ClusterTopology& cluster, const KernelTimes& kernels, const LinearWork& work,
                    const Schedule* uncapped = nullptr);

}  // namespace hsap
