#include "planner/strategies/inner_attention.hpp"

namespace hsap {

View boundary_view(const ProgramBuilder& builder, RankId rank) {
  const RankProgram& program = builder.program(rank);
  const RankBoundary& b = program.boundary;
  return {
      rank,  program.tokens, {0, builder.shape().query_heads}, {0, builder.shape().kv_heads}, b.q, b.k, b.v, b.o, b.d_o, b.d_q,
      b.d_k, b.d_v};
}

View part_of(ProgramBuilder& builder, const View& view, const TokenSet& tokens) {
  View part = view;
  part.tokens = builder.intern(intersection(builder.tokens(view.tokens), tokens));
  return part;
}

std::vector<View> boundary_views(const ProgramBuilder& builder) {
  std::vector<View> views;
  for (RankId rank = 0; rank < builder.ranks(); ++rank) views.push_back(boundary_view(builder, rank));
  return views;
}

std::vector<std::vector<View>> groups_of_one(const ProgramBuilder& builder) {
  std::vector<std::vector<View>> groups;
  groups.reserve(builder.ranks());
  for (RankId rank = 0; rank < builder.ranks(); ++rank) groups.push_back({boundary_view(builder, rank)});
  return groups;
}

HeadRange kv_heads_of(const AttentionShape& shape, HeadRange query_heads) {
  const int group = shape.queries_per_kv_head();
  return {query_heads.begin / group, (query_heads.end - 1) / group + 1};
}

void attend_locally(ProgramBuilder& builder, const View& view) {
  if (builder.tokens(view.tokens).empty()) return;
  const auto whole = [&](BufferId buffer) { return builder.rows(view.rank, buffer, view.tokens); };
  OutputAccumulator output(builder, view, 1);
  output.attend(0, view.tokens, whole(view.k), whole(view.v));
  output.finish(0);
  QueryGradientAccumulator d_q(builder, view, output.lse(), 1);
  d_q.attend(0, view.tokens, whole(view.k), whole(view.v), whole(view.d_k), whole(view.d_v));
  d_q.finish(0);
}

OutputAccumulator::OutputAccumulator(ProgramBuilder& builder, const View& view, std::size_t pieces)
    : builder_(builder), view_(view) {
  const bool softmax = builder.shape().kind == AttentionKind::softmax;
  const auto buffer = [&](Role role, const char* name) {
    return builder.whole(view.rank, builder.add_buffer(view.rank, role, DType::fp32, view.tokens, view.query_heads, name));
  };
  o_ = pieces > 1 ? buffer(Role::o, "o sum") : builder.rows(view.rank, view.o, view.tokens);
  if (softmax) lse_ = buffer(Role::lse, "lse");
}

std::optional<Slice> OutputAccumulator::lse() const { return lse_; }

void OutputAccumulator::attend(int step, TokenSetId queries, Slice k, Slice v) {
  const RankId rank = view_.rank;
  const Slice q = builder_.rows(rank, view_.q, queries);
  if (first_) {
    builder_.compute(rank, Phase::forward, step, Attend{q, k, v, o_, lse_});
    first_ = false;
    return;
  }
  const auto piece = [&](Role role, DType dtype, const char* name) {
    return builder_.whole(rank, builder_.add_buffer(rank, role, dtype, queries, view_.query_heads, name));
  };
  const Slice o = piece(Role::o, builder_.shape().dtype, "o piece");
  if (lse_) {
    const Slice lse = piece(Role::lse, DType::fp32, "lse piece");
    builder_.compute(rank, Phase::forward, step, Attend{q, k, v, o, lse});
    merge(step, o, lse);
  } else {
    builder_.compute(rank, Phase::forward, step, Attend{q, k, v, o, std::nullopt});
    builder_.compute(rank, Phase::forward, step, Accumulate{{{o, builder_.rows(rank, o_.buffer, queries)}}});
  }
}

void OutputAccumulator::merge(int step, const Slice& o, const Slice& lse) {
  const auto rows_of_sum = [&](const Slice& sum) { return builder_.rows(view_.rank, sum.buffer, o.tokens); };
  builder_.compute(view_.rank, Phase::forward, step, Merge{o, lse, rows_of_sum(o_), rows_of_sum(*lse_)});
}

void OutputAccumulator::finish(int step) {
  if (o_.buffer != view_.o)
    builder_.compute(view_.rank, Phase::forward, step, Copy{{{o_, builder_.rows(view_.rank, view_.o, view_.tokens)}}});
}

QueryGradientAccumulator::QueryGradientAccumulator(ProgramBuilder& builder, const View& view, std::optional<Slice> lse,
                                                   std::size_t pieces)
    : builder_(builder), view_(view), lse_(lse) {
  if (pieces > 1) sum_ = builder.add_buffer(view.rank, Role::d_q, DType::fp32, view.tokens, view.query_heads, "d_q sum");
}

void QueryGradientAccumulator::attend(int step, TokenSetId queries, Slice k, Slice v, Slice d_k, Slice d_v) {
  const RankId rank = view_.rank;
  const auto rows = [&](BufferId buffer) { return builder_.rows(rank, buffer, queries); };
  const BufferId into = sum_.value_or(view_.d_q);
  // Only a piece that covers every row may start the sum.
  const bool starts_sum = !written_ && queries == view_.tokens;
  const Slice d_q = starts_sum ? rows(into)
                               : builder_.whole(rank, builder_.add_buffer(rank, Role::d_q, builder_.shape().dtype, queries,
                                                                          view_.query_heads, "d_q piece"));
  std::optional<Slice> o, lse;
  if (lse_) o = rows(view_.o), lse = rows(lse_->buffer);
  builder_.compute(rank, Phase::backward, step, AttendBackward{rows(view_.q), k, v, o, lse, rows(view_.d_o), d_q, d_k, d_v});
  if (builder_.tokens(queries).empty()) return;  // it wrote zeros to d_k and d_v, and nothing to d_q
  if (starts_sum) {
    written_ = true;
    for (const Slice& piece : waiting_) add_to_sum(step, piece);
    waiting_.clear();
  } else {
    add(step, d_q);
  }
}

void QueryGradientAccumulator::add(int step, const Slice& d_q) {
  if (written_)
    add_to_sum(step, d_q);
  else
    waiting_.push_back(d_q);
}

void QueryGradientAccumulator::add_to_sum(int step, const Slice& piece) {
  builder_.compute(view_.rank, Phase::backward, step, Accumulate{{{piece, builder_.rows(view_.rank, *sum_, piece.tokens)}}});
}

void QueryGradientAccumulator::finish(int step) {
  if (sum_)
    builder_.compute(view_.rank, Phase::backward, step,
                     Copy{{{builder_.whole(view_.rank, *sum_), builder_.rows(view_.rank, view_.d_q, view_.tokens)}}});
}

}  // namespace hsap
