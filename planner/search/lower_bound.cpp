#include "planner/search/lower_bound.hpp"

#include <algorithm>

#include "planner/ir/work.hpp"

namespace hsap {

namespace {

/// What one rank does in a second.
struct Rates {
  double flops, tokens;
  double ratio() const { return flops / tokens; }
};

}  // namespace

double evenly_spread_seconds(double flops, Token tokens, const AttentionShape& shape, int ranks, Phase phase,
                             const LinearWork& work, const KernelTimes& kernels) {
  double all_flops = 0;
  std::vector<Rates> rates;
  std::vector<double> weights;
  for (RankId rank = 0; rank < static_cast<RankId>(ranks); ++rank) {
    const double rate = kernels.best_attention_flops_per_second(rank, shape, phase);
    all_flops += rate;
    const double token_seconds = work.seconds_per_token(rank, phase);
    if (token_seconds == 0) continue;
    rates.push_back({rate, 1 / token_seconds});
    weights.push_back(rates.back().ratio());
  }
  double seconds = flops / all_flops;
  std::sort(weights.begin(), weights.end());
  weights.erase(std::unique(weights.begin(), weights.end()), weights.end());
  for (const double weight : weights) {
    double worth = 0;
    for (const Rates& rank : rates) worth += std::max(rank.flops, weight * rank.tokens);
    seconds = std::max(seconds, (flops + weight * static_cast<double>(tokens)) / worth);
  }
  return seconds;
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
