#include "planner/strategies/shard_states.hpp"

#include <algorithm>

namespace hsap {

Shard::Shard(ProgramBuilder& builder, const View& view)
    : builder_(&builder), view_(view), tokens_(builder.tokens(view.tokens).ranges().front()) {
  const DocumentMask& mask = builder.mask();
  const TokenRange first = mask.document(mask.document_of(tokens_.begin));
  const TokenRange last = mask.document(mask.document_of(tokens_.end - 1));
  if (first.begin < tokens_.begin) left_ = {{tokens_.begin, std::min(first.end, tokens_.end)}, {first.begin, tokens_.begin}};
  if (last.end > tokens_.end) right_ = {{std::max(last.begin, tokens_.begin), tokens_.end}, {tokens_.end, last.end}};
}

Slice Shard::rows(BufferId buffer, TokenRange range) {
  return builder_->rows(view_.rank, buffer, builder_->intern(TokenSet{range}));
}

Slice Shard::add_state(Phase phase, TokenRange summed, const std::string& name) {
  const Role role = phase == Phase::forward ? Role::state : Role::d_state;
  const TokenSetId tokens = builder_->intern(TokenSet{summed});
  return whole(builder_->add_buffer(view_.rank, role, DType::fp32, tokens, view_.kv_heads, to_string(role) + " " + name));
}

TokenRange Shard::passed_on(Phase phase) const {
  const TokenRange beyond = entry(phase)->beyond;
  return {std::min(tokens_.begin, beyond.begin), std::max(tokens_.end, beyond.end)};
}

Slice Shard::sum_rows(Phase phase, int step, TokenRange summed, const std::optional<Slice>& before) {
  const bool forward = phase == Phase::forward;
  const TokenRange own = exit(phase)->rows;
  const Slice a = rows(forward ? view_.k : view_.q, own);
  const Slice b = rows(forward ? view_.v : view_.d_o, own);
  const Slice state = add_state(phase, summed, forward ? "after" : "before");
  builder_->compute(view_.rank, phase, step, StateUpdate{a, b, before, state});
  return state;
}

void Shard::attend(Phase phase, int step, HeadRange query_heads) {
  const HeadRange kv_heads = query_heads == view_.query_heads ? view_.kv_heads : kv_heads_of(builder_->shape(), query_heads);
  const auto q_part = [&](BufferId buffer) { return ProgramBuilder::part(buffer, view_.tokens, query_heads); };
  const auto kv_part = [&](BufferId buffer) { return ProgramBuilder::part(buffer, view_.tokens, kv_heads); };
  const Slice q = q_part(view_.q), k = kv_part(view_.k), v = kv_part(view_.v);
  if (phase == Phase::forward)
    builder_->compute(view_.rank, phase, step, Attend{q, k, v, q_part(view_.o), std::nullopt});
  else
    builder_->compute(view_.rank, phase, step,
                      AttendBackward{q, k, v, std::nullopt, std::nullopt, q_part(view_.d_o), q_part(view_.d_q),
                                     kv_part(view_.d_k), kv_part(view_.d_v)});
}

void Shard::apply(Phase phase, int step, const Slice& state) {
  const TokenRange range = entry(phase)->rows;
  if (phase == Phase::forward) {
    kept_ = state;
    add_product(phase, step, view_.q, state, false, Role::o, view_.o, range);
  } else {
    add_product(phase, step, view_.v, state, true, Role::d_k, view_.d_k, range);
    add_product(phase, step, view_.k, state, false, Role::d_v, view_.d_v, range);
  }
}

void Shard::apply_kept(int step) {
  if (kept_) add_product(Phase::backward, step, view_.d_o, *kept_, true, Role::d_q, view_.d_q, left_->rows);
}

void Shard::add_product(Phase phase, int step, BufferId x, const Slice& state, bool transposed, Role role, BufferId sum,
                        TokenRange range) {
  const Slice into = rows(sum, range);
  const Slice part =
      whole(builder_->add_buffer(view_.rank, role, DType::fp32, into.tokens, into.heads, to_string(role) + " from state"));
  builder_->compute(view_.rank, phase, step, StateApply{rows(x, range), state, part, transposed});
  builder_->compute(view_.rank, phase, step, Accumulate{{{part, into}}});
}

std::vector<Shard> shards_of(ProgramBuilder& builder, const std::vector<View>& chain) {
  std::vector<Shard> shards;
  for (const View& view : chain)
    if (!builder.tokens(view.tokens).empty()) shards.emplace_back(builder, view);
  return shards;
}

ShardRange holders_of(const std::vector<Shard>& shards, TokenRange range) {
  const auto first =
      std::partition_point(shards.begin(), shards.end(), [&](const Shard& shard) { return shard.tokens().end <= range.begin; });
  const auto last =
      std::partition_point(first, shards.end(), [&](const Shard& shard) { return shard.tokens().begin < range.end; });
  return {static_cast<std::size_t>(first - shards.begin()), static_cast<std::size_t>(last - shards.begin())};
}

}  // namespace hsap
