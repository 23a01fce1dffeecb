// Ring attention on views (Liu et al. 2023, arXiv 2310.01889, as ring-flash-attention runs it): the KV blocks travel once
// around the ring, each rank attends to the block it has while the next one arrives. Backward: the KV ring again, and a second
// ring that carries dK, dV of each block, adding the local part and passing it on, until it is home after R hops. Bytes sent
// per rank, with KVb = bytes of one block: forward KVb; backward KVb + R x (KVb in the gradients' dtype).
// TransformerEngine starts backward from the block that came last, against the direction of forward, so that a block's
// gradients end at home without a hop of their own: 2 KVb with gradients in the model's dtype.
// The whole block always travels, whatever the documents need.
#pragma once

#include <vector>

#include "planner/strategies/ring_hops.hpp"
#include "planner/strategies/ring_member.hpp"

namespace hsap {

struct RingRules {
  DType gradient = DType::fp32;  ///< of d_k, d_v while they travel and are added up
  bool keep_kv = false;          ///< blocks received in forward stay for backward, which then passes gradients only
  bool backward_from_last = false;
  PassOn pass = pass_directly;
};

/// One ring: places[i] sends to places[(i+1) % R]. The views' tokens are disjoint, their heads equal.
class RingPass {
 public:
  RingPass(ProgramBuilder& builder, std::vector<RingPlace> places, RingRules rules = {});
  void forward();
  /// After forward().
  void backward();

  RingMap& map() { return map_; }
  /// Members know their lse after forward().
  std::vector<RingMember>& members() { return members_; }

 private:
  std::size_t size() const { return map_.size(); }
  /// The place whose block is at `place` in a step of the phase.
  std::size_t source(Phase phase, std::size_t place, std::size_t step) const;
  /// Where the block at `place` goes.
  std::size_t next(Phase phase, std::size_t place) const;
  void pass(Phase phase, std::size_t step, const std::vector<Block>& from, const std::vector<Block>& into);
  std::vector<Block> blocks_for(Phase phase, std::size_t step);
  std::vector<Block> gradients_for(std::size_t step, const char* name);

  ProgramBuilder& builder_;
  const RingRules rules_;
  RingMap map_;
  std::vector<RingMember> members_;
  std::vector<std::vector<Block>> kept_;  // [step][place] blocks of forward, when they are kept
  std::vector<Block> last_;               // [place] block of forward's last step
};

/// Forward and backward of one ring.
void ring_pass(ProgramBuilder& builder, std::vector<RingPlace> places, RingRules rules = {});

}  // namespace hsap
