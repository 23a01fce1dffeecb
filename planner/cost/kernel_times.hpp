// KernelTimes: how long one compute op takes alone on one device. (CostModel: a whole schedule on idle links. Simulator: a
// whole schedule on shared links.) Shared by all predictors, so that they differ in nothing else.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "planner/cost/kernel_speed.hpp"
#include "planner/inputs/cluster_topology.hpp"
#include "planner/ir/schedule.hpp"

namespace hsap {

class KernelTimes {
 public:
  /// One device kind per GPU of the cluster; rank r runs on GPU r.
  explicit KernelTimes(const ClusterTopology& cluster);
  /// The kernels of models that count FLOPs and nothing else (planner/placement/layer_costs.hpp): on every rank all matrix work
  /// runs at this rate, whatever its shape and dtype; launches and kernels without matrix work take no time.
  /// @pre flops_per_second > 0
  static KernelTimes at_constant_rate(double flops_per_second);
  /// Seconds of a compute op of `rank`, launch included; 0 when it has no rows, since nothing is launched then. Exchange has no
  /// kernel time: asking for it is our own mistake (assert). Never less than flops_of / best_attention_flops_per_second.
  double seconds(const Schedule& schedule, RankId rank, const Op& op) const;
  /// FLOP/s that attention of one long document attains at best on the device of `rank`: what lower bounds divide by.
  double best_attention_flops_per_second(RankId rank, const AttentionShape& shape, Phase phase) const;
  /// Seconds that a token's linear work in one layer takes on the device of `rank`: 2 FLOP per parameter that the token
  /// multiplies (LayerKind::linear_parameters) forward, 4 backward, at the rate of large matrix multiplications.
  double linear_seconds_per_token(RankId rank, double parameters, DType dtype, Phase phase) const;
  /// Where the numbers come from, one line per device kind: "H100 SXM: fitted to ..., mean error ... % on ...".
  std::string provenance() const;

 private:
  struct Device {
    DeviceKind kind;
    KernelSpeed speed;
  };
  KernelTimes() = default;
  const KernelSpeed& speed_of_rank(RankId rank) const;

  std::optional<double> constant_rate_;  ///< FLOP/s; then there are no devices
  std::vector<Device> devices_;          ///< each different kind once
  std::vector<std::size_t> device_of_rank_;
};

}  // namespace hsap
