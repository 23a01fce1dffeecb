// Where the time above the compute bound goes, by cause; the causes add up to it exactly. Our derivation. A phase of the layer
// takes T seconds, until each rank has attended and done the linear work of its tokens (planner/cost/linear_work). Matrix work
// is what flops_of() counts, W_r FLOP on rank r, whose attention runs at R_r FLOP/s at best; X_r seconds is its linear work, 0
// when attention alone is looked at. With `even` the time of work that is spread evenly (evenly_spread_seconds), the bound is
// B = even(least FLOPs, all tokens). Seen from the rank m with the largest W_r / R_r + X_r, which computes one op at a time and
// its linear work after or before them,
//
//   T     = seconds in matrix kernels + seconds in other kernels + X_m + seconds in which m computes nothing
//   T - B = (even(sum W, all tokens) - B)             extra work: more than the least, or pairs outside the batch's mask
//         + (W_m / R_m + X_m - even(sum W, all tokens))
//                                                     imbalance: m has more work than the mean. Of it, what the same placement
//                                                     without a cap on tokens does not have is the memory cap's
//         + (seconds in matrix kernels - W_m / R_m)   kernel fragments: short pieces, few heads, launches
//         + seconds in other kernels                  merge, delta, accumulate, copy, zero, state sums
//         + seconds in which m computes nothing and a message from or to it is on the links     exposed communication
//         + seconds in which m computes nothing and one is on its way, but none on the links    latency
//         + seconds in which m computes nothing and none is on its way: peers are late, or m is done      waiting
//
// No term is negative: the least work is the least, the largest sum is no less than that of evenly spread work, and KernelTimes
// never beats the best rate. A message is on its way from when both ends have posted it (PhaseRun::time), on the links when the
// latency of its route has passed since.
#pragma once

#include "planner/cost/linear_work.hpp"
#include "planner/search/explanation/phase_run.hpp"

namespace hsap {

/// Seconds.
struct TimeCauses {
  RankId busiest_rank = 0;   ///< m
  double seconds = 0;        ///< T
  double bound_seconds = 0;  ///< B
  double extra_work = 0;
  double imbalance = 0;   ///< without the memory cap's part
  double memory_cap = 0;  ///< 0 when it does not bind
  double kernel_fragments = 0;
  double other_kernels = 0;
  double exposed_communication = 0;
  double latency = 0;
  double waiting = 0;

  double sum() const {
    return extra_work + imbalance + memory_cap + kernel_fragments + other_kernels + exposed_communication + latency + waiting;
  }
};

struct PhaseCauses {
  TimeCauses forward, backward;
};
/// Each of the seconds, forward + backward; the busiest rank is that of forward.
TimeCauses sum_of(const PhaseCauses& causes);

/// `run` is attention as it goes in the layer; `documents` the mask that the results should respect; `work` what counts beside
/// attention; `uncapped`, where given, the schedule that the strategy makes without a cap on tokens. O(ops + ranges).
TimeCauses time_causes(const PhaseRun& run, const DocumentMask& documents, const KernelTimes& kernels, const LinearWork& work,
                       const Schedule* uncapped = nullptr);

/// Of both phases. Throws InvalidInput as op_graph() does.
PhaseCauses phase_causes(const Schedule& schedule, const DocumentMask& documents, const LayerTimeline& timeline,
                         const ClusterTopology& cluster, const KernelTimes& kernels, const LinearWork& work,
                         const Schedule* uncapped = nullptr);

}  // namespace hsap
