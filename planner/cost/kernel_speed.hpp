// What attention kernels and matrix multiplications attain on each kind of GPU: the one table of constants, with their sources
// and errors. Used by KernelTimes only. The model and its validation are in README.md beside this file.
#pragma once

#include <string>

#include "planner/cost/attention_tiles.hpp"
#include "planner/inputs/cluster_topology.hpp"
#include "planner/ir/attention_shape.hpp"
#include "planner/ir/schedule.hpp"

namespace hsap {

/// One pass (forward or backward) of one kernel family.
struct PassSpeed {
  double matrix_efficiency;         ///< of a multiprocessor's share of peak FLOP/s, while it multiplies
  double softmax_seconds_per_pair;  ///< of one multiprocessor, for one (query, key) pair of one head: what multiplying does not
                                    ///< hide
  double block_seconds;             ///< of one multiprocessor, per query tile: load, fill the pipeline, write
  double launch_seconds;            ///< whole call, however small
  double memory_efficiency;         ///< memory traffic of the call adds bytes / (this x memory bandwidth)
};

/// Attention as one kernel family runs it.
struct KernelFamily {
  std::string name;
  TileShape tile;
  double tail_blocks;          ///< the last wave costs this many mean blocks
  double lone_block_slowdown;  ///< a block that has its multiprocessor to itself takes this times its share
  PassSpeed forward;
  PassSpeed backward;

  const PassSpeed& pass(Phase phase) const { return phase == Phase::forward ? forward : backward; }
};

/// A family on one kind of GPU.
struct KernelSpeed {
  const KernelFamily* family;
  double matrix_flops_per_second;  ///< of one multiprocessor at peak, bf16 or fp16
  double multiprocessors;
  double memory_bytes_per_second;
  std::string source;  ///< one line for people: measured, fitted or assumed
};

KernelSpeed speed_of(const DeviceKind& device);

/// Seconds that one multiprocessor spends on one (query, key) pair of one head, at best.
double seconds_per_pair(const KernelSpeed& speed, const AttentionShape& shape, Phase phase);

/// FLOP/s of the whole device on the large matrix multiplications of a layer's linear work.
double linear_flops_per_second(const KernelSpeed& speed, DType dtype);
/// "linear work assumed at 80 % of peak FLOP/s, ...".
std::string linear_source();

}  // namespace hsap
