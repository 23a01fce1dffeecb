// The members of a ring and what they work on: which rows of whose queries must meet which rows of whose keys, and the
// attention of one member to the blocks of keys and values that come by. Who passes what to whom is said elsewhere:
// ring_pass.hpp (one ring), double_ring.hpp (rings inside a ring), query_ring.hpp (queries travel instead of keys).
#pragma once

#include <vector>

#include "planner/strategies/inner_attention.hpp"

namespace hsap {

/// One place in the ring. A rank attends with all its tokens to the whole block, or where that is enough with some parts to
/// some parts of the block: zigzag shards have two, the early and the late chunks of their documents.
struct RingPlace {
  View view;
  std::vector<TokenSetId> parts;  ///< disjoint, together the view's tokens
  /// Cut the work of a shard of one part to what the mask leaves. Not for shards of many ranges: the schedule would hold a set
  /// of its own for every pair of ranks.
  bool cut = false;
};

/// A contiguous shard.
RingPlace place_whole(ProgramBuilder& builder, const View& view);
/// A shard of many ranges that needs no parts: every part of it sees, and is seen, alike.
RingPlace place_scattered(ProgramBuilder& builder, const View& view);
/// A zigzag shard: its rows in the first halves of their documents, and those in the second halves.
RingPlace place_by_halves(ProgramBuilder& builder, const View& view);

/// Rows of one place's queries and of another's keys that meet. Both empty: nothing to do.
struct RingWork {
  TokenSetId queries = 0;
  TokenSetId keys = 0;
};

class RingMap {
 public:
  RingMap(ProgramBuilder& builder, std::vector<RingPlace> places);
  std::size_t size() const { return places_.size(); }
  const View& view(std::size_t place) const { return places_[place].view; }
  RankId rank(std::size_t place) const { return view(place).rank; }
  RingWork work(std::size_t query_place, std::size_t key_place);

 private:
  TokenSetId chosen(const RingPlace& place, const std::vector<bool>& uses);

  ProgramBuilder& builder_;
  std::vector<RingPlace> places_;
  std::vector<std::vector<TokenSet>> seen_;  // [place][part] keys that its rows see
};

/// Keys and values of one place, or their gradients, on some rank.
struct Block {
  Slice k, v;
};

/// One rank of the ring. Calls come in issue order: attend() for each block, finish_forward(), then attend_backward() likewise.
class RingMember {
 public:
  RingMember(ProgramBuilder& builder, RingMap& map, std::size_t place);

  const View& view() const { return map_->view(place_); }
  Block own_block() const;
  /// Room on this rank for the block of `source`.
  Block new_block(std::size_t source, const char* name);
  /// Room on this rank for the gradients of the block of `source`.
  Block new_gradient(std::size_t source, DType dtype, const char* name);

  void attend(int step, std::size_t source, const Block& kv);
  void finish_forward(int step);
  /// Log-sum-exp of the finished forward phase, [tokens, query_heads].
  const Slice& lse() const { return *lse_; }

  /// Writes the block's gradients, every row of them.
  void start_gradient(int step, std::size_t source, const Block& kv, const Block& gradient);
  /// Adds this rank's part to the block's gradients.
  void add_gradient(int step, std::size_t source, const Block& kv, const Block& gradient);
  /// d_q is whole; `own_gradient`, of the rank's own block, becomes d_k and d_v.
  void finish_backward(int step, const Block& own_gradient);

 private:
  bool holds_tokens() const { return !builder_->tokens(view().tokens).empty(); }
  bool has_work(std::size_t source) const { return !builder_->tokens(work_[source].keys).empty(); }
  static Slice rows(const Slice& slice, TokenSetId tokens) { return {slice.buffer, tokens, slice.heads}; }
  Slice new_buffer(Role role, DType dtype, TokenSetId tokens, const char* name);

  ProgramBuilder* builder_;
  RingMap* map_;
  std::size_t place_;
  std::vector<RingWork> work_;  // [source]
  std::size_t pieces_ = 0;      // blocks with work
  std::optional<OutputAccumulator> output_;
  std::optional<QueryGradientAccumulator> d_q_;
  std::optional<Slice> lse_;
};

}  // namespace hsap
