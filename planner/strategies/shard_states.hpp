// Linear attention over contiguous shards: each rank attends inside its shard, and what came before reaches it as one state
// S = sum k^T v per kv head. A state is zero at document starts, so only a document that straddles two shards makes one travel.
// This file is what every way of handing states on has in common (state_chain, state_gather, state_scan): where documents
// straddle, and what a shard computes. Bytes of one state: kv_heads x qk_dim x v_dim x 4 (fp32), whatever the shard's length.
//
//   forward   o += q S (rows of the straddling document)               states go to the right, from S' = sum k^T v of the rows
//   backward  d_q += d_o S^T,  d_k += v D^T,  d_v += k D               states go to the left, from D' = sum q^T d_o
//
// Under decay each state is decayed to the end of its tokens at which it leaves (planner/ir/schedule.hpp).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "planner/strategies/inner_attention.hpp"

namespace hsap {

/// One end of a shard at which a document goes on: the shard's rows of that document, and the document's tokens beyond.
struct Straddle {
  TokenRange rows;
  TokenRange beyond;
};

/// A rank's part of the batch: one range of tokens. Ops are added in the order in which the functions are called.
class Shard {
 public:
  Shard(ProgramBuilder& builder, const View& view);

  RankId rank() const { return view_.rank; }
  HeadRange kv_heads() const { return view_.kv_heads; }
  const TokenRange& tokens() const { return tokens_; }
  /// Where states of the phase come in: the left end in forward, the right one in backward.
  const std::optional<Straddle>& entry(Phase phase) const { return phase == Phase::forward ? left_ : right_; }
  /// Where they go out: the other end.
  const std::optional<Straddle>& exit(Phase phase) const { return phase == Phase::forward ? right_ : left_; }
  /// One document over the whole shard and beyond both ends: what comes in goes out again, with the shard's rows added.
  bool is_passed_through() const { return left_ && right_ && left_->rows == right_->rows; }

  /// A new state (d_state in backward) of the tokens `summed`, all kv heads of the shard.
  Slice add_state(Phase phase, TokenRange summed, const std::string& name);
  /// The state of the rows that go on beyond the exit. @pre there is an exit
  Slice sum_rows(Phase phase, int step) { return sum_rows(phase, step, exit(phase)->rows, std::nullopt); }
  /// The state that came in with all rows of the shard added. @pre is_passed_through()
  Slice sum_rows(Phase phase, int step, const Slice& before) { return sum_rows(phase, step, passed_on(phase), before); }
  /// What a document that is passed through has summed up when it leaves the shard: the tokens before it and its own.
  TokenRange passed_on(Phase phase) const;

  /// Attention, or its gradients, inside the shard: all heads.
  void attend(Phase phase, int step) { attend(phase, step, view_.query_heads); }
  /// The same for some query heads: whole groups of the kv heads, unless they are all.
  void attend(Phase phase, int step, HeadRange query_heads);
  /// Adds what the state that came in gives: to o in forward (which keeps the state for backward), to d_k and d_v in backward.
  /// After attend(), which writes those rows first.
  void apply(Phase phase, int step, const Slice& state);
  /// Backward: adds to d_q what the state kept from forward gives, if one came in.
  void apply_kept(int step);

 private:
  Slice whole(BufferId buffer) const { return builder_->whole(view_.rank, buffer); }
  Slice rows(BufferId buffer, TokenRange range);
  Slice sum_rows(Phase phase, int step, TokenRange summed, const std::optional<Slice>& before);
  void add_product(Phase phase, int step, BufferId x, const Slice& state, bool transposed, Role role, BufferId sum,
                   TokenRange range);

  ProgramBuilder* builder_;
  View view_;
  TokenRange tokens_;
  std::optional<Straddle> left_, right_;
  std::optional<Slice> kept_;  // came in in forward
};

/// The shards of those views that hold tokens. `chain` in token order; each view holds one range of tokens or none, one begins
/// where the one before it ends.
std::vector<Shard> shards_of(ProgramBuilder& builder, const std::vector<View>& chain);

/// Indices begin .. end-1 into shards in token order.
struct ShardRange {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t size() const { return end - begin; }
};
/// Those that hold tokens of the range. O(log shards).
ShardRange holders_of(const std::vector<Shard>& shards, TokenRange range);

}  // namespace hsap
