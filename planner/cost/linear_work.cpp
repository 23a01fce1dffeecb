#include "planner/cost/linear_work.hpp"

#include <algorithm>
#include <utility>

#include "planner/ir/work.hpp"

namespace hsap {

double LinearWork::seconds_per_token(RankId rank, Phase phase) const {
  return counted() ? (phase == Phase::forward ? forward : backward)[rank] : 0;
}

double LinearWork::seconds(const Schedule& schedule, RankId rank, Phase phase) const {
  const Token tokens = schedule.tokens(schedule.ranks[rank].tokens).size();
  return static_cast<double>(tokens) * seconds_per_token(rank, phase);
}

LinearWork linear_work(double parameters, DType dtype, int ranks, const KernelTimes& kernels) {
  LinearWork work;
  for (RankId rank = 0; rank < static_cast<RankId>(ranks); ++rank) {
    work.forward.push_back(kernels.linear_seconds_per_token(rank, parameters, dtype, Phase::forward));
    work.backward.push_back(kernels.linear_seconds_per_token(rank, parameters, dtype, Phase::backward));
  }
  return work;
}

std::vector<double> attention_begins(const Schedule& schedule, const LinearWork& work) {
  std::vector<double> begins(schedule.ranks.size(), 0);
  if (work.precedes_attention(Phase::backward))
    for (RankId rank = 0; rank < begins.size(); ++rank) begins[rank] = work.seconds(schedule, rank, Phase::backward);
  return begins;
}

std::optional<double> common_begin(const std::vector<double>& begins) {
  if (begins.empty()) return 0;
  const bool together = std::all_of(begins.begin(), begins.end(), [&](double begin) { return begin == begins.front(); });
  return together ? std::optional(begins.front()) : std::nullopt;
}

LayerTimeline begun_together(Timeline attention, double seconds) {
  LayerTimeline result{std::move(attention), {}};
  result.backward_in_layer = result.attention.backward;
  for (std::vector<OpTime>& rank : result.backward_in_layer.ranks)
    for (OpTime& time : rank) time = {time.begin + seconds, time.end + seconds};
  return result;
}

double output_seconds(const Schedule& schedule, const PhaseTimeline& forward, RankId rank) {
  const RankProgram& program = schedule.ranks[rank];
  const auto brings_output = [&](const Exchange& exchange) {
    return std::any_of(exchange.recvs.begin(), exchange.recvs.end(), [&](const Message& message) {
      return std::any_of(message.parts.begin(), message.parts.end(),
                         [&](const Slice& part) { return part.buffer == program.boundary.o; });
    });
  };
  double seconds = 0;
  for (const Op& op : program.forward) {
    const auto* exchange = std::get_if<Exchange>(&op.body);
    if (exchange == nullptr || brings_output(*exchange)) seconds = std::max(seconds, forward.ranks[rank][op.id].end);
  }
  return seconds;
}

double layer_seconds(const Schedule& schedule, const PhaseTimeline& in_layer, Phase phase, const LinearWork& work) {
  double together = 0, attention = 0, linear = 0;
  for (RankId rank = 0; rank < schedule.ranks.size(); ++rank) {
    const double of_rank = work.seconds(schedule, rank, phase);
    const double end = in_layer.seconds(rank);
    const bool follows = work.counted() && phase == Phase::forward && !work.barrier;
    const double linear_begin = follows ? output_seconds(schedule, in_layer, rank) : 0;
    together = std::max({together, end, linear_begin + of_rank});
    attention = std::max(attention, end);
    linear = std::max(linear, of_rank);
  }
  return work.barrier ? attention + linear : together;
}

double layer_seconds(const Schedule& schedule, const LayerTimeline& timeline, Phase phase, const LinearWork& work) {
  return layer_seconds(schedule, in_layer(timeline, phase, work), phase, work);
}

double pairs_per_token(const AttentionShape& shape, const LinearWork& work, const KernelTimes& kernels) {
  double of_tokens = 0, of_pairs = 0;
  for (RankId rank = 0; rank < work.forward.size(); ++rank) {
    for (const Phase phase : {Phase::forward, Phase::backward}) {
      of_tokens += work.seconds_per_token(rank, phase);
      of_pairs +=
          shape.query_heads * flops_per_pair(shape, phase) / kernels.best_attention_flops_per_second(rank, shape, phase);
    }
  }
  return of_pairs > 0 ? of_tokens / of_pairs : 0;
}

double pairs_per_entering_key(const AttentionShape& shape, const ClusterTopology& cluster, const KernelTimes& kernels) {
  GpuId other = 0;
  while (other < cluster.gpus() && cluster.island_of(other) == cluster.island_of(0)) ++other;
  if (other == cluster.gpus()) return 0;
  const double bytes = shape.kv_heads * (shape.qk_dim + shape.v_dim) * bytes_per_element(shape.dtype);
  double of_pair = 0;
  for (const Phase phase : {Phase::forward, Phase::backward})
    of_pair += shape.query_heads * flops_per_pair(shape, phase) / kernels.best_attention_flops_per_second(0, shape, phase);
  return 2 * bytes / cluster.route(other, 0).bytes_per_second / of_pair;
}

}  // namespace hsap
