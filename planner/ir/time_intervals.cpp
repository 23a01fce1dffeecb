#include "planner/ir/time_intervals.hpp"

#include <algorithm>

namespace hsap {

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

double seconds_in(const std::vector<OpTime>& times) {
  double seconds = 0;
  for (const OpTime& time : times) seconds += time.end - time.begin;
  return seconds;
}

double seconds_outside(const std::vector<OpTime>& a, const std::vector<OpTime>& b) {
  double seconds = seconds_in(a);
  auto other = b.begin();
  for (const OpTime& time : a) {
    while (other != b.end() && other->end <= time.begin) ++other;
    for (auto it = other; it != b.end() && it->begin < time.end; ++it)
      seconds -= std::min(time.end, it->end) - std::max(time.begin, it->begin);
  }
  return seconds;
}

}  // namespace hsap
