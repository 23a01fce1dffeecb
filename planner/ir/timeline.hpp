// When every op of a Schedule ran. All four interpreters return one, so that they can be compared op by op.
#pragma once

#include <vector>

#include "planner/ir/schedule.hpp"

namespace hsap {

/// Seconds since the barrier that starts the phase.
struct OpTime {
  double begin = 0;
  double end = 0;
};

struct PhaseTimeline {
  std::vector<std::vector<OpTime>> ranks;  ///< [rank][op id]
  /// End of the last op of any rank; 0 when there is none.
  double seconds() const;
  /// End of the last op of `rank`; 0 when it has none.
  double seconds(RankId rank) const;
};

struct Timeline {
  PhaseTimeline forward;
  PhaseTimeline backward;
};
inline const PhaseTimeline& phase_of(const Timeline& timeline, Phase phase) {
  return phase == Phase::forward ? timeline.forward : timeline.backward;
}

/// Seconds in which a rank has an Exchange under way and computes nothing, worst rank of the phase: communication that
/// is not hidden.
double exposed_communication_seconds(const Schedule& schedule, const Timeline& timeline, Phase phase);

}  // namespace hsap
