// What lies between head exchange and head exchange: attention on one rank's view of the tokens and heads. Strategies are built
// from three ways to fill it: alone (attend_locally), around a ring (ring_pass.hpp), or by exchanging what the documents need
// (needed_exchange.hpp); linear attention has others, which exchange states (shard_states.hpp). head_exchange.hpp makes views
// of more tokens and fewer heads; without it the view is the rank's own boundary.
#pragma once

#include <optional>
#include <vector>

#include "planner/ir/in_place_list.hpp"
#include "planner/strategies/program_builder.hpp"

namespace hsap {

/// One rank's operands. The inner attention reads the rows `tokens` of q, k, v, d_o, writes those of o, d_q, d_k, d_v
/// completely (model dtype), and keeps what it needs from forward to backward itself. All buffers hold these rows, and more
/// when the view is a part of another one; q, o, d_o, d_q have the heads `query_heads`, the rest `kv_heads`.
struct View {
  RankId rank = 0;
  TokenSetId tokens = 0;
  HeadRange query_heads, kv_heads;
  BufferId q = 0, k = 0, v = 0, o = 0, d_o = 0, d_q = 0, d_k = 0, d_v = 0;
};

/// The boundary of a rank as a view: its own tokens, all heads.
View boundary_view(const ProgramBuilder& builder, RankId rank);
/// Those of all ranks.
std::vector<View> boundary_views(const ProgramBuilder& builder);
/// The same, every rank a group of its own: [group][0].
std::vector<std::vector<View>> groups_of_one(const ProgramBuilder& builder);

/// The rows of a view that are in `tokens`, so that the documents of a rank can take different ways.
View part_of(ProgramBuilder& builder, const View& view, const TokenSet& tokens);

/// KV heads that serve the query heads [begin, end).
HeadRange kv_heads_of(const AttentionShape& shape, HeadRange query_heads);

/// Forward and backward of an inner attention in which the ranks of a group do not exchange anything: the view holds whole
/// documents. o and lse of the view stay for backward.
void attend_locally(ProgramBuilder& builder, const View& view);

/// Partial results of one rank and their sum. The first piece covers every row of the view and is written straight into the
/// accumulator; later ones are merged (softmax) or added (linear). A row that sees none of the first keys begins with o = 0 and
/// lse = -infinity.
class OutputAccumulator {
 public:
  /// `pieces` = number of attend() and merge() calls that will follow; one piece goes to view.o without an fp32 copy.
  OutputAccumulator(ProgramBuilder& builder, const View& view, std::size_t pieces);
  /// Attends the rows `queries` of the view to the rows `keys` of k and v.
  void attend(int step, TokenSetId queries, Slice k, Slice v);
  /// Takes in a piece that another rank worked out for some rows of the view; softmax only, after the first attend().
  void merge(int step, const Slice& o, const Slice& lse);
  /// The merged result in view.o.
  void finish(int step);
  /// Log-sum-exp of the merged result, [tokens, query_heads]; softmax only.
  std::optional<Slice> lse() const;

 private:
  ProgramBuilder& builder_;
  const View view_;
  Slice o_;
  std::optional<Slice> lse_;
  bool first_ = true;
};

/// dQ of one rank. One of the pieces covers every row and starts the sum; the others are added to it, also those that come
/// before.
class QueryGradientAccumulator {
 public:
  /// `pieces` = number of attend() and add() calls that will follow; one piece goes to view.d_q without an fp32 copy.
  QueryGradientAccumulator(ProgramBuilder& builder, const View& view, std::optional<Slice> lse, std::size_t pieces);
  /// Gradients of the rows `queries`, which may be none, against the rows of k and v; d_k and d_v are written to the slices
  /// given.
  void attend(int step, TokenSetId queries, Slice k, Slice v, Slice d_k, Slice d_v);
  /// Takes in a piece that another rank worked out for some rows of the view.
  void add(int step, const Slice& d_q);
  /// A piece that covers every row has come.
  bool started() const { return written_; }
  /// The sum in view.d_q.
  void finish(int step);

 private:
  void add_to_sum(int step, const Slice& piece);

  ProgramBuilder& builder_;
  const View view_;
  std::optional<Slice> lse_;
  std::optional<BufferId> sum_;  // fp32, only when there are several pieces
  bool written_ = false;
  InPlaceList<Slice, 4> waiting_;  // pieces that came before the sum was started
};

}  // namespace hsap
