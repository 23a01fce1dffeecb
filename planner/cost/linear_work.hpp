// The work of a layer beside attention: projections, MLP, experts. Each rank does it for the tokens that it holds, before and
// after attention, so that a rank's time in a layer is when its attention has ended plus the linear work of its tokens.
#pragma once

#include <vector>

#include "planner/cost/kernel_times.hpp"
#include "planner/ir/schedule.hpp"
#include "planner/ir/timeline.hpp"

namespace hsap {

struct LinearWork {
  /// [rank] seconds per token; both empty: none is counted.
  std::vector<double> forward, backward;
  /// Between attention and linear work all ranks wait for each other: an all-to-all of experts, or tensor parallelism across
  /// them.
  bool barrier = false;

  bool counted() const { return !forward.empty(); }
  double seconds_per_token(RankId rank, Phase phase) const;
  /// Of all tokens that the rank holds in `schedule`.
  double seconds(const Schedule& schedule, RankId rank, Phase phase) const;
};

/// Linear work on `ranks` ranks of a layer in which a token multiplies `parameters` (LayerKind::linear_parameters).
LinearWork linear_work(double parameters, DType dtype, int ranks, const KernelTimes& kernels);

/// Seconds of the whole layer in one phase: the most, over ranks, of attention's end plus linear work; with a barrier, the most
/// of each. With none counted, the seconds of attention. All ranks begin attention together (assumed): that ranks with few tokens could begin the attention of
/// backward sooner, when their MLP is done, is not modelled, so a rank that waits for gradients of its keys may come out late.
double layer_seconds(const Schedule& schedule, const PhaseTimeline& timeline, Phase phase, const LinearWork& work);
double layer_seconds(const Schedule& schedule, const Timeline& timeline, Phase phase, const LinearWork& work);

/// Seconds of a token's linear work over seconds of a (query, key) pair in all heads at the best rate, forward + backward: what
/// a token costs a placement beside its pairs. The means of all ranks; 0 when none is counted.
double pairs_per_token(const AttentionShape& shape, const LinearWork& work, const KernelTimes& kernels);

/// Seconds in which a rank takes in a key and value of another node, and its gradients go back, in the model's dtype, over
/// seconds of a pair in all heads, forward + backward. By the route from the first rank to the first one of another node; 0
/// when there is one node.
double pairs_per_entering_key(const AttentionShape& shape, const ClusterTopology& cluster, const KernelTimes& kernels);

}  // namespace hsap
