#include "planner/ir/verify/place.hpp"

#include <algorithm>

#include "planner/ir/errors.hpp"

namespace hsap::proof {

std::string to_string(const Place& place) {
  return "rank " + std::to_string(place.rank) + ", " + hsap::to_string(place.phase) + " op " + std::to_string(place.op.id) +
         " (" + kind_name(place.op.body) + ", step " + std::to_string(place.op.step) + ")";
}

std::string describe_buffer(const Schedule& schedule, RankId rank, BufferId buffer) {
  const Buffer& named = schedule.buffer(rank, buffer);
  return "buffer " + std::to_string(buffer) + " \"" + named.name.text() + "\" (" + hsap::to_string(named.role) + ")";
}

std::string describe(const TokenSet& tokens) {
  if (tokens.empty()) return "no token";
  constexpr std::size_t kShown = 2;
  const Ranges ranges = tokens.ranges();
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, ranges.size()); ++i)
    text += (i == 0 ? "[" : " [") + std::to_string(ranges[i].begin) + ", " + std::to_string(ranges[i].end) + ")";
  if (ranges.size() > kShown) text += " and " + std::to_string(ranges.size() - kShown) + " more ranges";
  return text;
}

std::string describe(const HeadRange& heads) {
  if (heads.size() <= 0) return "no head";
  if (heads.size() == 1) return "head " + std::to_string(heads.begin);
  return "heads " + std::to_string(heads.begin) + " to " + std::to_string(heads.end - 1);
}

void refuse(const Place& place, const std::string& what) { throw InvalidInput(to_string(place) + ": " + what); }

}  // namespace hsap::proof
