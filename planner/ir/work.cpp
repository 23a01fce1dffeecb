#include "planner/ir/work.hpp"

#include <algorithm>
#include <cmath>

namespace hsap {

Token rows_of(const Schedule& schedule, RankId rank, const Slice& slice) {
  return is_state(schedule.buffer(rank, slice.buffer).role) ? 1 : schedule.tokens(slice.tokens).size();
}

double bytes_of(const Schedule& schedule, RankId rank, const Slice& slice) {
  const Buffer& buffer = schedule.buffer(rank, slice.buffer);
  return static_cast<double>(rows_of(schedule, rank, slice)) * slice.heads.size() * width_of(buffer.role, schedule.shape) *
         bytes_per_element(buffer.dtype);
}

double bytes_of(const Schedule& schedule, RankId, const Buffer& buffer) {
  const Token rows = is_state(buffer.role) ? 1 : schedule.tokens(buffer.tokens).size();
  return static_cast<double>(rows) * buffer.heads.size() * width_of(buffer.role, schedule.shape) *
         bytes_per_element(buffer.dtype);
}

double bytes_of(const Schedule& schedule, RankId rank, const Message& message) {
  double bytes = 0;
  for (const Slice& part : message.parts) bytes += bytes_of(schedule, rank, part);
  return bytes;
}

std::int64_t pairs_of(const Schedule& schedule, const Attend& op) {
  return schedule.mask.pairs(schedule.tokens(op.q.tokens), schedule.tokens(op.k.tokens));
}

std::int64_t pairs_of(const Schedule& schedule, const AttendBackward& op) {
  return schedule.mask.pairs(schedule.tokens(op.q.tokens), schedule.tokens(op.k.tokens));
}

double flops_per_pair(const AttentionShape& shape, Phase phase) {
  return phase == Phase::forward ? 2.0 * (shape.qk_dim + shape.v_dim) : 2.0 * (3 * shape.qk_dim + 2 * shape.v_dim);
}

namespace {

double attention_flops(const AttentionShape& shape, Phase phase, std::int64_t pairs, Token rows, int heads) {
  const double quadratic = flops_per_pair(shape, phase) * static_cast<double>(pairs) * heads;
  if (shape.kind == AttentionKind::softmax) return quadratic;
  const double per_row =
      static_cast<double>(kLinearAttentionChunk) * (shape.qk_dim + shape.v_dim) + 4.0 * shape.qk_dim * shape.v_dim;
  const double chunked = (phase == Phase::forward ? 1.0 : 2.5) * per_row * static_cast<double>(rows) * heads;
  return std::min(quadratic, chunked);
}

}  // namespace

double flops_of(const Schedule& schedule, RankId rank, const OpBody& body) {
  const AttentionShape& shape = schedule.shape;
  const double per_state_row = 2.0 * shape.qk_dim * shape.v_dim;
  if (const auto* attend = std::get_if<Attend>(&body))
    return attention_flops(shape, Phase::forward, pairs_of(schedule, *attend), rows_of(schedule, rank, attend->q),
                           attend->q.heads.size());
  if (const auto* back = std::get_if<AttendBackward>(&body))
    return attention_flops(shape, Phase::backward, pairs_of(schedule, *back), rows_of(schedule, rank, back->q),
                           back->q.heads.size());
  if (const auto* update = std::get_if<StateUpdate>(&body))
    return per_state_row * static_cast<double>(rows_of(schedule, rank, update->a)) * update->a.heads.size();
  if (const auto* apply = std::get_if<StateApply>(&body))
    return per_state_row * static_cast<double>(rows_of(schedule, rank, apply->x)) * apply->x.heads.size();
  return 0;
}

double least_flops(const AttentionShape& shape, const DocumentMask& mask, Phase phase) {
  if (shape.kind == AttentionKind::softmax)
    return flops_per_pair(shape, phase) * static_cast<double>(mask.pairs()) * shape.query_heads;
  const double half_pair = flops_per_pair(shape, phase) / 2 * shape.query_heads;
  const double product = (phase == Phase::forward ? 1 : 2) * 2.0 * shape.qk_dim * shape.v_dim;
  double flops = 0;
  for (std::size_t d = 0; d < mask.documents(); ++d) {
    const auto length = static_cast<double>(mask.document(d).size());
    for (const int heads : {shape.query_heads, shape.kv_heads}) {
      const double by_state = product * heads;  // the n-th query sees n keys, the n-th last key is seen by n queries
      const double by_pairs = std::min(length, std::floor(by_state / half_pair));
      flops += half_pair * by_pairs * (by_pairs + 1) / 2 + by_state * (length - by_pairs);
    }
  }
  return flops;
}

double memory_traffic_of(const Schedule& schedule, RankId rank, const OpBody& body) {
  double bytes = 0;
  const auto count = [&](const Slice& slice) { bytes += bytes_of(schedule, rank, slice); };
  for_each_read(body, count);
  for_each_write(body, count);
  return bytes;
}

std::vector<double> bytes_sent_by_rank(const Schedule& schedule, Phase phase) {
  std::vector<double> sent(schedule.ranks.size(), 0);
  for (RankId rank = 0; rank < schedule.ranks.size(); ++rank)
    for (const Op& op : ops_of(schedule.ranks[rank], phase))
      if (const auto* exchange = std::get_if<Exchange>(&op.body))
        for (const Message& message : exchange->sends) sent[rank] += bytes_of(schedule, rank, message);
  return sent;
}

}  // namespace hsap
