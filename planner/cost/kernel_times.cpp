#include "planner/cost/kernel_times.hpp"

#include <algorithm>
#include <cassert>
#include <sstream>

#include "planner/cost/attention_tiles.hpp"
#include "planner/ir/work.hpp"

namespace hsap {

namespace {

/// Of the memory bandwidth, that a streaming kernel attains (assumed; STREAM-like kernels reach 0.85 to 0.92).
constexpr double kStreamingEfficiency = 0.85;
/// Of one small kernel (assumed: launch, ramp up, drain).
constexpr double kSmallKernelSeconds = 4e-6;

/// Per token: a multiplication and an addition; backward, for the gradients of input and of weights each.
double linear_flops_per_parameter(Phase phase) { return phase == Phase::forward ? 2 : 4; }

/// What Attend and AttendBackward have in common.
struct AttentionOp {
  const Slice& q;
  const Slice& k;
  Phase phase;
};

double attention_seconds(const KernelSpeed& speed, const Schedule& schedule, RankId rank, const Op& op,
                         const AttentionOp& attention) {
  const AttentionShape& shape = schedule.shape;
  const KernelFamily& family = *speed.family;
  const PassSpeed& pass = family.pass(attention.phase);
  const int kv_heads = attention.k.heads.size();
  const TileCount count = count_tiles(schedule.mask, schedule.tokens(attention.q.tokens), schedule.tokens(attention.k.tokens),
                                      attention.q.heads.size() / kv_heads, family.tile);

  const double pair_seconds = seconds_per_pair(speed, shape, attention.phase);
  const double step_seconds = family.tile.rows * family.tile.keys * pair_seconds;
  const double blocks = static_cast<double>(count.blocks) * kv_heads;
  const double steps = static_cast<double>(count.tiles) * kv_heads;
  double work = blocks * pass.block_seconds + steps * step_seconds;
  double longest = pass.block_seconds + static_cast<double>(count.longest_block) * step_seconds;
  if (shape.kind == AttentionKind::linear) {
    // Computed in chunks where that is less work, at the rate of softmax attention (assumed): no block is long then.
    const double chunked = flops_of(schedule, rank, op.body) / flops_per_pair(shape, attention.phase) * pair_seconds;
    work = std::min(work, blocks * pass.block_seconds + chunked);
    longest = std::min(longest, work / std::max(blocks, 1.0));
  }
  const double waves = work / speed.multiprocessors + (blocks > 0 ? family.tail_blocks * work / blocks : 0);
  const double lone = blocks > 0 ? family.lone_block_slowdown * longest : 0;
  return pass.launch_seconds + std::max(waves, lone) +
         memory_traffic_of(schedule, rank, op.body) / (pass.memory_efficiency * speed.memory_bytes_per_second);
}

/// The larger of multiplying and moving, plus one launch. Without multiplications: a streaming kernel.
double roofline_seconds(const KernelSpeed& speed, const Schedule& schedule, RankId rank, const Op& op,
                        double flops_per_second) {
  const double moving = memory_traffic_of(schedule, rank, op.body) / (kStreamingEfficiency * speed.memory_bytes_per_second);
  const double multiplying = flops_of(schedule, rank, op.body) / flops_per_second;
  return kSmallKernelSeconds + std::max(moving, multiplying);
}

bool same_kind(const DeviceKind& a, const DeviceKind& b) {
  return a.name == b.name && a.peak_flops_per_second == b.peak_flops_per_second && a.multiprocessors == b.multiprocessors &&
         a.memory_bytes_per_second == b.memory_bytes_per_second;
}

}  // namespace

KernelTimes::KernelTimes(const ClusterTopology& cluster) {
  for (GpuId gpu = 0; gpu < cluster.gpus(); ++gpu) {
    const DeviceKind& kind = cluster.device(gpu);
    const auto known = std::find_if(devices_.begin(), devices_.end(), [&](const Device& d) { return same_kind(d.kind, kind); });
    device_of_rank_.push_back(static_cast<std::size_t>(known - devices_.begin()));
    if (known == devices_.end()) devices_.push_back({kind, speed_of(kind)});
  }
}

KernelTimes KernelTimes::at_constant_rate(double flops_per_second) {
  assert(flops_per_second > 0);
  KernelTimes kernels;
  kernels.constant_rate_ = flops_per_second;
  return kernels;
}

double KernelTimes::seconds(const Schedule& schedule, RankId rank, const Op& op) const {
  if (constant_rate_) return flops_of(schedule, rank, op.body) / *constant_rate_;
  const KernelSpeed& speed = speed_of_rank(rank);
  const auto has_rows = [&](const Slice& slice) { return rows_of(schedule, rank, slice) > 0; };
  const auto streaming = [&] { return roofline_seconds(speed, schedule, rank, op, 1); };
  const auto transfers = [&](const TransferList& terms) {
    return std::any_of(terms.begin(), terms.end(), [&](const Transfer& term) { return has_rows(term.into); }) ? streaming()
                                                                                                              : 0.0;
  };
  const auto state_product = [&](const Slice& rows) {
    // seconds() does not know the phase: the slower of the two rates, so that neither phase's lower bound is beaten.
    const double rate = std::min(best_attention_flops_per_second(rank, schedule.shape, Phase::forward),
                                 best_attention_flops_per_second(rank, schedule.shape, Phase::backward));
    return has_rows(rows) ? roofline_seconds(speed, schedule, rank, op, rate) : 0.0;
  };
  return std::visit(
      detail::Overloaded{
          [](const Exchange&) -> double {
            assert(false && "an Exchange has no kernel time");
            return 0;
          },
          [&](const Attend& body) {
            return has_rows(body.q) ? attention_seconds(speed, schedule, rank, op, {body.q, body.k, Phase::forward}) : 0.0;
          },
          [&](const AttendBackward& body) {
            const bool launched = has_rows(body.q) || has_rows(body.k);
            return launched ? attention_seconds(speed, schedule, rank, op, {body.q, body.k, Phase::backward}) : 0.0;
          },
          [&](const Merge& body) { return has_rows(body.o) ? streaming() : 0.0; },
          [&](const Delta& body) { return has_rows(body.o) ? streaming() : 0.0; },
          [&](const Accumulate& body) { return transfers(body.terms); },
          [&](const Copy& body) { return transfers(body.terms); },
          [&](const Zero& body) { return std::any_of(body.slices.begin(), body.slices.end(), has_rows) ? streaming() : 0.0; },
          [&](const StateUpdate& body) { return state_product(body.a); },
          [&](const StateSum&) { return streaming(); },
          [&](const StateApply& body) { return state_product(body.x); },
      },
      op.body);
}

double KernelTimes::best_attention_flops_per_second(RankId rank, const AttentionShape& shape, Phase phase) const {
  if (constant_rate_) return *constant_rate_;
  const KernelSpeed& speed = speed_of_rank(rank);
  return speed.multiprocessors * flops_per_pair(shape, phase) / seconds_per_pair(speed, shape, phase);
}

double KernelTimes::linear_seconds_per_token(RankId rank, double parameters, DType dtype, Phase phase) const {
  const double rate = constant_rate_ ? *constant_rate_ : linear_flops_per_second(speed_of_rank(rank), dtype);
  return linear_flops_per_parameter(phase) * parameters / rate;
}

std::string KernelTimes::provenance() const {
  std::string text;
  if (constant_rate_) {
    std::ostringstream rate;
    rate << *constant_rate_ / 1e12;
    text = "any GPU: all matrix work assumed at " + rate.str() + " TFLOP/s, other kernels in no time\n";
  }
  for (const Device& device : devices_)
    text += device.kind.name + ": " + device.speed.source + "; " + linear_source() + "; other kernels assumed\n";
  return text;
}

const KernelSpeed& KernelTimes::speed_of_rank(RankId rank) const {
  assert(rank < device_of_rank_.size());
  return devices_[device_of_rank_[rank]].speed;
}

}  // namespace hsap
