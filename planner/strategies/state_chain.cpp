#include "planner/strategies/state_chain.hpp"

#include <algorithm>

namespace hsap {

namespace {

/// One end of a shard at which a document goes on: the shard's rows of that document, and the document's tokens beyond.
struct Straddle {
  TokenRange rows;
  TokenRange beyond;
};

class ChainRank {
 public:
  ChainRank(ProgramBuilder& builder, const View& view, const View* previous, const View* next)
      : builder_(builder), view_(view), previous_(previous), next_(next), range_(builder.tokens(view.tokens).ranges().front()) {
    const TokenRange first = builder.mask().document(builder.mask().document_of(range_.begin));
    const TokenRange last = builder.mask().document(builder.mask().document_of(range_.end - 1));
    if (first.begin < range_.begin) left_ = {{range_.begin, std::min(first.end, range_.end)}, {first.begin, range_.begin}};
    if (last.end > range_.end) right_ = {{std::max(last.begin, range_.begin), range_.end}, {range_.end, last.end}};
    // One document over the whole shard and beyond on both sides: what arrives at one end leaves at the other.
    through_ = left_ && right_ && left_->rows == right_->rows;
  }

  void forward() {
    // A state that does not wait for the chain is sent before the long local attention.
    if (right_ && !through_) send_state(std::nullopt);
    const Slice o = whole(view_.o);
    builder_.compute(view_.rank, Phase::forward, 0, Attend{whole(view_.q), whole(view_.k), whole(view_.v), o, std::nullopt});
    if (!left_) return;
    state_ = receive(Phase::forward, previous_->rank, Role::state, left_->beyond, "state before");
    if (through_) send_state(state_);
    apply(Phase::forward, view_.q, *state_, false, Role::o, o, left_->rows);
  }

  void backward() {
    if (left_ && !through_) send_gradient(std::nullopt);
    const Slice d_q = whole(view_.d_q), d_k = whole(view_.d_k), d_v = whole(view_.d_v);
    builder_.compute(view_.rank, Phase::backward, 0,
                     AttendBackward{whole(view_.q), whole(view_.k), whole(view_.v), std::nullopt, std::nullopt,
                                    whole(view_.d_o), d_q, d_k, d_v});
    if (right_) {
      const Slice gradient = receive(Phase::backward, next_->rank, Role::d_state, right_->beyond, "d_state after");
      if (through_) send_gradient(gradient);
      apply(Phase::backward, view_.v, gradient, true, Role::d_k, d_k, right_->rows);
      apply(Phase::backward, view_.k, gradient, false, Role::d_v, d_v, right_->rows);
    }
    if (left_) apply(Phase::backward, view_.d_o, *state_, true, Role::d_q, d_q, left_->rows);
  }

 private:
  Slice whole(BufferId buffer) const { return builder_.whole(view_.rank, buffer); }
  Slice rows(BufferId buffer, TokenRange range) { return builder_.rows(view_.rank, buffer, builder_.intern(TokenSet{range})); }

  Slice state_buffer(Role role, TokenRange summed, const char* name) {
    return whole(builder_.add_buffer(view_.rank, role, DType::fp32, builder_.intern(TokenSet{summed}), view_.kv_heads, name));
  }

  Slice receive(Phase phase, RankId from, Role role, TokenRange summed, const char* name) {
    const Slice state = state_buffer(role, summed, name);
    builder_.communicate(view_.rank, phase, 1, Exchange{{}, {{from, {state}}}});
    return state;
  }

  void send_state(const std::optional<Slice>& before) {
    const TokenRange summed{before ? left_->beyond.begin : right_->rows.begin, range_.end};
    const Slice state = state_buffer(Role::state, summed, "state after");
    builder_.compute(view_.rank, Phase::forward, 1,
                     StateUpdate{rows(view_.k, right_->rows), rows(view_.v, right_->rows), before, state});
    builder_.communicate(view_.rank, Phase::forward, 1, Exchange{{{next_->rank, {state}}}, {}});
  }

  void send_gradient(const std::optional<Slice>& after) {
    const TokenRange summed{range_.begin, after ? right_->beyond.end : left_->rows.end};
    const Slice gradient = state_buffer(Role::d_state, summed, "d_state before");
    builder_.compute(view_.rank, Phase::backward, 1,
                     StateUpdate{rows(view_.q, left_->rows), rows(view_.d_o, left_->rows), after, gradient});
    builder_.communicate(view_.rank, Phase::backward, 1, Exchange{{{previous_->rank, {gradient}}}, {}});
  }

  /// sum += x * state over `range`.
  void apply(Phase phase, BufferId x, const Slice& state, bool transposed, Role role, const Slice& sum, TokenRange range) {
    const TokenSetId tokens = builder_.intern(TokenSet{range});
    const HeadRange heads = has_query_heads(role) ? view_.query_heads : view_.kv_heads;
    const Slice part =
        whole(builder_.add_buffer(view_.rank, role, DType::fp32, tokens, heads, to_string(role) + " from state"));
    builder_.compute(view_.rank, phase, 1, StateApply{rows(x, range), state, part, transposed});
    builder_.compute(view_.rank, phase, 1, Accumulate{{{part, {sum.buffer, tokens, sum.heads}}}});
  }

  ProgramBuilder& builder_;
  const View view_;
  const View* const previous_;
  const View* const next_;
  const TokenRange range_;
  std::optional<Straddle> left_, right_;
  bool through_ = false;
  std::optional<Slice> state_;  // received in forward, used again in backward
};

}  // namespace

void state_chain(ProgramBuilder& builder, const std::vector<View>& chain) {
  std::vector<View> holders;
  for (const View& view : chain)
    if (!builder.tokens(view.tokens).empty()) holders.push_back(view);
  for (std::size_t i = 0; i < holders.size(); ++i) {
    ChainRank rank(builder, holders[i], i > 0 ? &holders[i - 1] : nullptr, i + 1 < holders.size() ? &holders[i + 1] : nullptr);
    rank.forward();
    rank.backward();
  }
}

}  // namespace hsap
