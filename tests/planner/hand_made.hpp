// Small schedules written op by op, for tests of the IR: the smallest program of each kind that verify() accepts.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "planner/ir/schedule.hpp"

namespace hsap::test {

/// Puts a Schedule together by hand: token sets listed once, boundary buffers made, ids counted.
class HandMade {
 public:
  /// `owned`: the tokens of each rank. Softmax gets an lse buffer per rank beside the boundary.
  HandMade(const AttentionShape& shape, DocumentMask mask, const std::vector<TokenSet>& owned);

  TokenSetId set(const TokenSet& tokens);
  BufferId add_buffer(RankId rank, Role role, const TokenSet& tokens, HeadRange heads, const std::string& name);
  /// All of a buffer.
  Slice all(RankId rank, BufferId buffer) const;
  Slice rows(RankId rank, BufferId buffer, const TokenSet& tokens);
  Slice part(BufferId buffer, const TokenSet& tokens, HeadRange heads);
  /// Appends an op; exchanges go to the communication stream. Returns its id.
  OpIndex add(RankId rank, Phase phase, OpBody body, OpList after = {}, int step = 0);

  const RankBoundary& boundary(RankId rank) const { return schedule.ranks[rank].boundary; }
  BufferId lse(RankId rank) const { return lse_[rank]; }
  HeadRange query_heads() const { return {0, schedule.shape.query_heads}; }
  HeadRange kv_heads() const { return {0, schedule.shape.kv_heads}; }
  /// Attend of the rank's own queries against its own keys into o (and lse).
  OpIndex attend_locally(RankId rank);
  /// Its gradients, into d_q, d_k and d_v.
  OpIndex attend_backward_locally(RankId rank);

  Schedule schedule;

 private:
  std::vector<BufferId> lse_;
};

/// One rank, documents of 3 and 5 tokens, 4 query heads on 2 kv heads.
Schedule local_attention();
/// Two ranks of 4 tokens, documents of 2 and 6 tokens, so that the second straddles. K and V go round the ring once (rank 0
/// gets a block it does not need, as ring attention is published); dK and dV of rank 0's keys come home in fp32.
Schedule two_rank_ring();
/// Two ranks share 2 query heads and 1 kv head by all-to-all: each attends one query head of all tokens, so dK and dV of the
/// one kv head are sums over ranks.
Schedule two_rank_ulysses();
/// Linear attention over two ranks of 4 tokens; the state of the straddling document hops forward, its gradient back.
Schedule two_rank_state_hop();
/// Linear attention with decay: one document on three ranks of 2 tokens. Each rank's state goes to all later ranks at once, its
/// gradient to all earlier ones; whoever gets two sums them up.
Schedule three_rank_state_sum();

}  // namespace hsap::test
