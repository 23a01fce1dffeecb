#include "planner/ir/timeline.hpp"

#include <algorithm>
#include <utility>

namespace hsap {

namespace {

/// Sorted, merged; empty intervals dropped.
std::vector<OpTime> merged(std::vector<OpTime> times) {
  std::erase_if(times, [](const OpTime& t) { return t.end <= t.begin; });
  std::sort(times.begin(), times.end(), [](const OpTime& a, const OpTime& b) { return a.begin < b.begin; });
  std::vector<OpTime> result;
  for (const OpTime& time : times) {
    if (!result.empty() && time.begin <= result.back().end)
      result.back().end = std::max(result.back().end, time.end);
    else
      result.push_back(time);
  }
  return result;
}

/// Seconds covered by `a` and not by `b`, both merged.
double seconds_outside(const std::vector<OpTime>& a, const std::vector<OpTime>& b) {
  double seconds = 0;
  auto other = b.begin();
  for (const OpTime& time : a) {
    seconds += time.end - time.begin;
    while (other != b.end() && other->end <= time.begin) ++other;
    for (auto it = other; it != b.end() && it->begin < time.end; ++it)
      seconds -= std::min(time.end, it->end) - std::max(time.begin, it->begin);
  }
  return seconds;
}

}  // namespace

double PhaseTimeline::seconds() const {
  double last = 0;
  for (const auto& ops : ranks)
    for (const OpTime& time : ops) last = std::max(last, time.end);
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
