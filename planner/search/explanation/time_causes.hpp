// Where the time above the lower bound goes, by cause; the causes add up to it exactly. Our derivation. A phase takes T
// seconds. Matrix work is what flops_of() counts, W_r FLOP on rank r, whose attention runs at R_r FLOP/s at best. The bound is
// B = least_flops / sum R. Seen from the rank m with the largest W_r / R_r, which computes one op at a time,
//
//   T     = seconds in matrix kernels + seconds in other kernels + seconds in which m computes nothing
//   T - B = (sum W / sum R - B)                       extra work: more than the least, or pairs outside the mask of the batch
//         + (W_m / R_m - sum W / sum R)               imbalance: m has more work than the mean
//         + (seconds in matrix kernels - W_m / R_m)   inefficiency: short documents, few heads, fragments, launches
//         + seconds in other kernels                  merge, delta, accumulate, copy, zero, state sums
//         + seconds in which m computes nothing and a message from or to it is on its way       exposed communication
//         + seconds in which m computes nothing and none is: its peers are late, or it is done  waiting
//
// No term is negative: the least work is the least, the largest ratio is no less than the mean, and KernelTimes never beats
// the best rate. A message is on its way from when both ends have posted it (PhaseRun::time); its latency counts as such.
#pragma once

#include "planner/search/explanation/phase_run.hpp"

namespace hsap {

/// Seconds.
struct TimeCauses {
  RankId busiest_rank = 0;  ///< m
  double seconds = 0;       ///< T
  double bound_seconds = 0;
  double extra_work = 0;
  double imbalance = 0;
  double kernel_inefficiency = 0;
  double other_kernels = 0;
  double exposed_communication = 0;
  double waiting = 0;

  double sum() const { return extra_work + imbalance + kernel_inefficiency + other_kernels + exposed_communication + waiting; }
};

/// `documents` is the mask that the results should respect. O(ops + ranges).
TimeCauses time_causes(const PhaseRun& run, const DocumentMask& documents, const KernelTimes& kernels);

}  // namespace hsap
