#include "planner/placement/bounds/any_plan_volume.hpp"

#include <algorithm>

namespace hsap {

namespace {

/// Most pairs that receiving `volume` keys' worth allows: c (i + j) + i j over g i + j = volume, i and j at most L. Along that
/// line it is a parabola with its top at i = (c + volume - g c) / 2 g.
double pairs_for(double volume, double owned, double length, double g) {
  const double least = std::max(0.0, (volume - length) / g);
  const double most = std::min(length, volume / g);
  const double top = (owned + volume - g * owned) / (2 * g);
  const double queries = std::min(std::max(top, least), most);
  const double keys = std::min(length, volume - g * queries);
  return owned * (queries + keys) + queries * keys;
}

/// The volume at which pairs_for() reaches `pairs`. @pre pairs <= length (length + 1) / 2, owned >= 1
double volume_for(double pairs, double owned, double length, double g) {
  constexpr int kHalvings = 60;
  double less = 0;
  double enough = (g + 1) * length;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (less + enough) / 2;
    (pairs_for(middle, owned, length, g) < pairs ? less : enough) = middle;
  }
  return less;
}

}  // namespace

double any_plan_volume(const std::vector<Token>& lengths, const RankCaps& caps, const HeadGroups& heads) {
  double volume = 0;
  for (const Token tokens : lengths) {
    const auto length = static_cast<double>(tokens);
    if (length <= caps.tokens) continue;
    const double all = length * (length + 1) / 2;
    const double own = length * (caps.tokens + 1) / 2;
    const double of_a_rank = std::min(heads.kv_heads * std::min(caps.cost, all), all);
    volume += (all - own) * volume_for(of_a_rank, caps.tokens, length, heads.queries_per_kv_head) / of_a_rank;
  }
  return volume;
}

}  // namespace hsap
