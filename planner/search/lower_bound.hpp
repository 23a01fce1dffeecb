// What no schedule of a problem is faster than, by name of the reason.
#pragma once

#include <string>
#include <vector>

#include "planner/cost/kernel_times.hpp"
#include "planner/cost/linear_work.hpp"
#include "planner/strategies/strategy.hpp"

namespace hsap {

struct LowerBound {
  std::string name;    ///< "compute"
  double seconds = 0;  ///< forward + backward
};

/// All that is known of the problem, the largest first: that one binds. `work` is what counts beside attention.
std::vector<LowerBound> lower_bounds(const Problem& problem, const LinearWork& work, const KernelTimes& kernels);

/// Seconds of one phase when `flops` of attention and the linear work of `tokens` are spread over the ranks as finely as one
/// likes, at their best rates. Rank r does R_r FLOP of attention or L_r tokens in a second; for every weight w >= 0 of a token
/// in FLOP, a second of rank r is worth max(R_r, w L_r) at most, so that
///
///   T >= (flops + w tokens) / sum over r of max(R_r, w L_r)
///
/// and the largest of these is what linear programming duality says is reached. It lies at one of the ratios R_r / L_r. When
/// all are equal, devices are of one kind above all, it is flops / sum R + tokens / sum L. Without linear work: flops / sum R.
/// O(ranks x different ratios)
double evenly_spread_seconds(double flops, Token tokens, const AttentionShape& shape, int ranks, Phase phase,
                             const LinearWork& work, const KernelTimes& kernels);

/// The least FLOPs of attention, and the linear work of all tokens, evenly spread; of one phase.
double compute_bound_seconds(const AttentionShape& shape, const DocumentMask& mask, int ranks, Phase phase,
                             const LinearWork& work, const KernelTimes& kernels);

}  // namespace hsap
