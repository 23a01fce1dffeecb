// Head parallelism (DeepSpeed-Ulysses, Jacobs et al. 2023, arXiv 2309.14509): an all-to-all inside a group of U ranks turns "my
// tokens, all heads" into "the group's tokens, my heads" before the inner attention, and back after it. With fewer kv heads
// than ranks, a kv head goes to every rank that has one of its query heads (replication rho = max(1, U / kv_heads)) and its
// gradients are summed at the owner. Bytes sent per rank and direction, Qb and KVb of one rank: (U-1)/U (2 Qb + rho KVb).
// Ragged heads (28 over 8 ranks): member m takes the query heads [m H / U, (m+1) H / U), and every kv head one of them reads.
// Shared by ulysses, hsap, megatron-sp and the rings with head parallelism (head_parallel_ring.hpp).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "planner/strategies/inner_attention.hpp"

namespace hsap {

/// Splits a set into `parts` sets of consecutive rows, sizes differing by at most one.
std::vector<TokenSet> split_rows(const TokenSet& tokens, int parts);

/// Why `degree` ranks cannot share the problem's heads, with the degrees that could ("28 heads not divisible by ...; valid: 1,
/// 2, 4"); nullopt when they can.
std::optional<std::string> refuse_head_degree(const Problem& problem, int degree);

/// One group's exchange: `scatter` goes from the boundary (my tokens, all heads) to the view (the group's tokens, my heads),
/// `gather` back. One Exchange per rank and call; a rank's own share is copied.
class HeadExchange {
 public:
  /// Of the ranks first .. first+members-1. Makes the views' buffers of `roles`.
  HeadExchange(ProgramBuilder& builder, RankId first, int members, const std::vector<Role>& roles);

  /// [member]
  const std::vector<View>& views() const { return views_; }
  void scatter(Phase phase, const std::vector<Role>& roles);
  void gather(Phase phase, const std::vector<Role>& roles);
  /// Some kv head is read on several ranks.
  bool replicates_kv() const;
  /// Gathers d_k and d_v where that is so: each rank sends its part (model dtype), the owner of the tokens sums in fp32.
  void sum_kv_gradients();

 private:
  static HeadRange heads(const View& view, Role role) { return has_query_heads(role) ? view.query_heads : view.kv_heads; }
  TokenSetId owned(const View& view) const { return builder_->program(view.rank).tokens; }
  template <class From, class Into>
  void move(Phase phase, const View& mine, const std::vector<Role>& roles, const From& from, const Into& into);
  void sum_parts(const View& mine);

  ProgramBuilder* builder_;
  std::vector<View> views_;
};

/// The inner attention of all groups: views[group][member]. Called between the two all-to-alls of the forward phase; must write
/// forward and backward ops of its own.
using InnerAttention = std::function<void(ProgramBuilder&, const std::vector<std::vector<View>>& views)>;

/// Of degrees.inter groups of degrees.intra consecutive ranks. In groups of one there is no exchange and the views are the
/// boundaries. Backward ops are appended in the order d_o exchange, inner, gradient exchange.
void with_head_exchange(ProgramBuilder& builder, const Degrees& degrees, const InnerAttention& inner);

}  // namespace hsap
