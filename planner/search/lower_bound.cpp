#include "planner/ir/work.hpp"
#include "planner/search/compare.hpp"

namespace hsap {

double lower_bound_seconds(const Problem& problem, const KernelTimes& kernels) {
  double seconds = 0;
  for (const Phase phase : {Phase::forward, Phase::backward}) {
    double flops_per_second = 0;
    for (RankId rank = 0; rank < static_cast<RankId>(problem.ranks); ++rank)
      flops_per_second += kernels.best_attention_flops_per_second(rank, problem.shape, phase);
    seconds += least_flops(problem.shape, problem.mask, phase) / flops_per_second;
  }
  return seconds;
}

}  // namespace hsap
