#include "planner/search/lower_bound.hpp"

#include <algorithm>

#include "planner/ir/work.hpp"
#include "planner/placement/bounds/compute_bound.hpp"

namespace hsap {

double evenly_spread_seconds(double flops, Token tokens, const AttentionShape& shape, int ranks, Phase phase,
                             const LinearWork& work, const KernelTimes& kernels) {
  std::vector<RankSpeed> speeds;  // a FLOP takes the place of a pair
  for (RankId rank = 0; rank < static_cast<RankId>(ranks); ++rank)
    speeds.push_back({1 / kernels.best_attention_flops_per_second(rank, shape, phase), work.seconds_per_token(rank, phase)});
  return compute_bound_seconds(flops, static_cast<double>(tokens), speeds);
}

double compute_bound_seconds(const AttentionShape& shape, const DocumentMask& mask, int ranks, Phase phase,
                             const LinearWork& work, const KernelTimes& kernels) {
  return evenly_spread_seconds(least_flops(shape, mask, phase), mask.tokens(), shape, ranks, phase, work, kernels);
}

std::vector<LowerBound> lower_bounds(const Problem& problem, const LinearWork& work, const KernelTimes& kernels) {
  const auto compute = [&](Phase phase) {
    return compute_bound_seconds(problem.shape, problem.mask, problem.ranks, phase, work, kernels);
  };
  std::vector<LowerBound> bounds = {{"compute", compute(Phase::forward) + compute(Phase::backward)}};
  std::stable_sort(bounds.begin(), bounds.end(),
                   [](const LowerBound& a, const LowerBound& b) { return a.seconds > b.seconds; });
  return bounds;
}

}  // namespace hsap
