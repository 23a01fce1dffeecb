#include "planner/ir/timeline.hpp"

#include <algorithm>
#include <utility>

#include "planner/ir/time_intervals.hpp"

namespace hsap {

double PhaseTimeline::seconds() const {
  double last = 0;
  for (RankId rank = 0; rank < ranks.size(); ++rank) last = std::max(last, seconds(rank));
  return last;
}

double PhaseTimeline::seconds(RankId rank) const {
  double last = 0;
  for (const OpTime& time : ranks[rank]) last = std::max(last, time.end);
  return last;
}

double exposed_communication_seconds(const Schedule& schedule, const Timeline& timeline, Phase phase) {
  double worst = 0;
  for (RankId rank = 0; rank < schedule.ranks.size(); ++rank) {
    std::vector<OpTime> communication;
    std::vector<OpTime> computation;
    for (const Op& op : ops_of(schedule.ranks[rank], phase))
      (op.stream == kComputeStream ? computation : communication).push_back(phase_of(timeline, phase).ranks[rank][op.id]);
    worst = std::max(worst, seconds_outside(merged(std::move(communication)), merged(std::move(computation))));
  }
  return worst;
}

}  // namespace hsap
