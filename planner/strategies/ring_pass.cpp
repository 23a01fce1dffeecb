#include "planner/strategies/ring_pass.hpp"

#include <algorithm>

namespace hsap {

namespace {

struct Block {
  Slice k, v;
};

/// The pieces of one rank's work: for each step the rows of q that see the block then present, and the block's rows they see.
struct RingStep {
  TokenSetId queries = 0;
  TokenSetId keys = 0;
};

class RingRank {
 public:
  RingRank(ProgramBuilder& builder, const std::vector<RingPlace>& ring, std::size_t place)
      : builder_(builder), ring_(ring), place_(place), view_(ring[place].view), size_(ring.size()) {
    std::vector<TokenSet> seen;  // keys that each part of this rank's rows sees
    for (const TokenSetId part : ring[place].parts) seen.push_back(builder.mask().keys_seen_by(builder.tokens(part)));
    steps_.push_back({view_.tokens, view_.tokens});
    for (std::size_t step = 1; step < size_; ++step) steps_.push_back(find_work(source(step), seen));
    for (const RingStep& step : steps_) pieces_ += has_work(step);
  }

  void forward() {
    OutputAccumulator output(builder_, view_, pieces_);
    Block block = own_block();
    for (std::size_t step = 0; step < size_; ++step) {
      const Block next = pass_kv(Phase::forward, step, block);
      if (has_work(steps_[step])) output.attend(number(step), steps_[step].queries, rows(block.k, step), rows(block.v, step));
      block = next;
    }
    if (pieces_ > 0) output.finish(number(size_ - 1));
    lse_ = output.lse();
  }

  void backward() {
    QueryGradientAccumulator d_q(builder_, view_, lse_, pieces_);
    Block block = own_block();
    Block gradient = new_gradient(0, "d_kv");  // of the block now here
    for (std::size_t step = 0; step < size_; ++step) {
      const Block next = pass_kv(Phase::backward, step, block);
      if (has_work(steps_[step])) {
        if (step == 0) {
          d_q.attend(0, view_.tokens, block.k, block.v, gradient.k, gradient.v);
        } else {
          const Block part{gradient_buffer(Role::d_k, builder_.shape().dtype, steps_[step].keys, "d_k part"),
                           gradient_buffer(Role::d_v, builder_.shape().dtype, steps_[step].keys, "d_v part")};
          d_q.attend(number(step), steps_[step].queries, rows(block.k, step), rows(block.v, step), part.k, part.v);
          builder_.compute(view_.rank, Phase::backward, number(step),
                           Accumulate{{{part.k, rows(gradient.k, step)}, {part.v, rows(gradient.v, step)}}});
        }
      }
      gradient = pass_gradient(step, gradient);
      block = next;
    }
    if (pieces_ == 0) return;
    d_q.finish(number(size_));
    builder_.compute(
        view_.rank, Phase::backward, number(size_),
        Copy{{{gradient.k, builder_.whole(view_.rank, view_.d_k)}, {gradient.v, builder_.whole(view_.rank, view_.d_v)}}});
  }

 private:
  static int number(std::size_t step) { return static_cast<int>(step); }
  bool has_work(const RingStep& step) const { return !builder_.tokens(step.keys).empty(); }
  /// Where the block that is here at `step` comes from: `step` places back.
  const RingPlace& source(std::size_t step) const { return ring_[(place_ + size_ - step % size_) % size_]; }
  TokenSetId block_tokens(std::size_t step) const { return source(step).view.tokens; }
  RankId next_rank() const { return ring_[(place_ + 1) % size_].view.rank; }
  RankId previous_rank() const { return ring_[(place_ + size_ - 1) % size_].view.rank; }

  /// The rows and keys to attend to in a block. A shard of one range is cut to what the mask leaves; shards of many ranges are
  /// taken by parts, so that the schedule does not hold a set of its own for every pair of ranks.
  RingStep find_work(const RingPlace& block, const std::vector<TokenSet>& seen) {
    const RingPlace& here = ring_[place_];
    std::vector<bool> uses_part(here.parts.size(), false), uses_key(block.parts.size(), false);
    for (std::size_t i = 0; i < here.parts.size(); ++i)
      for (std::size_t j = 0; j < block.parts.size(); ++j)
        if (seen[i].intersects(builder_.tokens(block.parts[j]))) uses_part[i] = uses_key[j] = true;
    RingStep work{chosen(here, uses_part), chosen(block, uses_key)};
    if (here.parts.size() > 1 || !has_work(work)) return work;
    TokenSet keys = intersection(builder_.tokens(work.keys), seen.front());
    TokenSet queries = intersection(builder_.tokens(work.queries), builder_.mask().queries_seeing(keys));
    return {builder_.intern(std::move(queries)), builder_.intern(std::move(keys))};
  }

  TokenSetId chosen(const RingPlace& place, const std::vector<bool>& uses) {
    if (std::find(uses.begin(), uses.end(), false) == uses.end()) return place.view.tokens;
    TokenSet tokens;
    for (std::size_t i = 0; i < uses.size(); ++i)
      if (uses[i]) tokens = set_union(tokens, builder_.tokens(place.parts[i]));
    return builder_.intern(std::move(tokens));
  }

  Block own_block() const { return {builder_.whole(view_.rank, view_.k), builder_.whole(view_.rank, view_.v)}; }
  Slice rows(const Slice& slice, std::size_t step) const { return {slice.buffer, steps_[step].keys, slice.heads}; }

  Slice gradient_buffer(Role role, DType dtype, TokenSetId tokens, const char* name) {
    return builder_.whole(view_.rank, builder_.add_buffer(view_.rank, role, dtype, tokens, view_.kv_heads, name));
  }
  Block new_gradient(std::size_t step, const char* name) {
    const TokenSetId tokens = block_tokens(step);
    return {gradient_buffer(Role::d_k, DType::fp32, tokens, name), gradient_buffer(Role::d_v, DType::fp32, tokens, name)};
  }

  void exchange(Phase phase, std::size_t step, const Block& outgoing, const Block& incoming) {
    Exchange hop;
    builder_.add_message(hop.sends, next_rank(), {outgoing.k, outgoing.v});
    builder_.add_message(hop.recvs, previous_rank(), {incoming.k, incoming.v});
    builder_.communicate(view_.rank, phase, number(step), std::move(hop));
  }

  Block pass_kv(Phase phase, std::size_t step, const Block& block) {
    if (step + 1 == size_) return {};
    const TokenSetId tokens = block_tokens(step + 1);
    const auto hop = [&](Role role) {
      return builder_.whole(view_.rank,
                            builder_.add_buffer(view_.rank, role, builder_.shape().dtype, tokens, view_.kv_heads, "kv hop"));
    };
    const Block next{hop(Role::k), hop(Role::v)};
    exchange(phase, step, block, next);
    return next;
  }

  Block pass_gradient(std::size_t step, const Block& gradient) {
    if (size_ == 1) return gradient;
    const Block next = new_gradient(step + 1, "d_kv hop");
    exchange(Phase::backward, step, gradient, next);
    return next;
  }

  ProgramBuilder& builder_;
  const std::vector<RingPlace>& ring_;
  const std::size_t place_;
  const View view_;
  const std::size_t size_;
  std::vector<RingStep> steps_;
  std::size_t pieces_ = 0;
  std::optional<Slice> lse_;
};

}  // namespace

RingPlace place_whole(ProgramBuilder&, const View& view) { return {view, {view.tokens}}; }

RingPlace place_by_halves(ProgramBuilder& builder, const View& view) {
  std::vector<TokenRange> first_halves;
  for (std::size_t d = 0; d < builder.mask().documents(); ++d) {
    const TokenRange document = builder.mask().document(d);
    first_halves.push_back({document.begin, document.begin + document.size() / 2});
  }
  const TokenSet early = intersection(builder.tokens(view.tokens), TokenSet(std::move(first_halves)));
  const TokenSet late = difference(builder.tokens(view.tokens), early);
  return {view, {builder.intern(early), builder.intern(late)}};
}

void ring_pass(ProgramBuilder& builder, const std::vector<RingPlace>& ring) {
  for (std::size_t place = 0; place < ring.size(); ++place) {
    RingRank rank(builder, ring, place);
    rank.forward();
    rank.backward();
  }
}

}  // namespace hsap
