// The work of a layer beside attention: projections, MLP, experts. Each rank does it for the tokens that it holds, so that its
// time in a layer is that of attention plus the linear work of its tokens. Forward, we cut layers where attention begins: all
// ranks begin it together, and each goes on with its linear work, up to the projections of the next layer, as soon as its
// attention has ended. Backward is that in reverse: each rank begins with its linear work, and attention when that is done, so
// ranks with few tokens begin it sooner, and the layer ends when all attention has (our model: within a layer ranks may drift
// apart, between two layers they do not).
#pragma once

#include <optional>
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
  /// Whether a rank does it before its attention.
  bool precedes_attention(Phase phase) const { return counted() && phase == Phase::backward && !barrier; }
  double seconds_per_token(RankId rank, Phase phase) const;
  /// Of all tokens that the rank holds in `schedule`.
  double seconds(const Schedule& schedule, RankId rank, Phase phase) const;
};

/// Linear work on `ranks` ranks of a layer in which a token multiplies `parameters` (LayerKind::linear_parameters).
LinearWork linear_work(double parameters, DType dtype, int ranks, const KernelTimes& kernels);

/// [rank] seconds after which it begins the attention of backward.
std::vector<double> attention_begins(const Schedule& schedule, const LinearWork& work);
/// When all begin together, 0 if there are none; nullopt when they do not.
std::optional<double> common_begin(const std::vector<double>& begins);

/// Attention alone, and as it goes in a layer.
struct LayerTimeline {
  Timeline attention;               ///< all ranks begin together
  PhaseTimeline backward_in_layer;  ///< since the layer's begin: each rank begins its attention as attention_begins() says
};
inline const PhaseTimeline& in_layer(const LayerTimeline& timeline, Phase phase, const LinearWork& work) {
  return work.precedes_attention(phase) ? timeline.backward_in_layer : phase_of(timeline.attention, phase);
}
/// `attention` as it goes in a layer where all ranks begin it `seconds` after the layer.
LayerTimeline begun_together(Timeline attention, double seconds);

/// When the rank has its output of attention and computes nothing more for others: the end of its last op on the compute
/// stream, or of the last Exchange that brings rows of o. What it still sends goes on beside its linear work.
double output_seconds(const Schedule& schedule, const PhaseTimeline& forward, RankId rank);

/// Seconds of the whole layer in one phase, whose attention goes as `in_layer` says: until the last rank has done both its
/// attention and its linear work; with a barrier, the most of each. With none counted, the seconds of attention.
double layer_seconds(const Schedule& schedule, const PhaseTimeline& in_layer, Phase phase, const LinearWork& work);
double layer_seconds(const Schedule& schedule, const LayerTimeline& timeline, Phase phase, const LinearWork& work);

/// Seconds of a token's linear work over seconds of a (query, key) pair in all heads at the best rate, forward + backward: what
/// a token costs a placement beside its pairs. The means of all ranks; 0 when none is counted.
double pairs_per_token(const AttentionShape& shape, const LinearWork& work, const KernelTimes& kernels);

/// Seconds in which a rank takes in a key and value of another node, and its gradients go back, in the model's dtype, over
/// seconds of a pair in all heads, forward + backward. By the route from the first rank to the first one of another node; 0
/// when there is one node.
double pairs_per_entering_key(const AttentionShape& shape, const ClusterTopology& cluster, const KernelTimes& kernels);

}  // namespace hsap
