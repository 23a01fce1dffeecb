// te-a2a-p2p: TransformerEngine's hierarchical context parallelism (cp_comm_type "a2a+p2p", context_parallel.py): all-to-all
// inside groups of U ranks, a ring of DualChunkSwap (zigzag) shards over the R groups, 1 x P being its "p2p". It differs from
// usp in backward: the ring starts from the block that came last and runs against the forward direction, with gradients in the
// model's dtype: R-1 hops of each. Ours deals a document's remainder tokens out; TE pads each document to 2 R tokens.
// Bytes sent per rank: forward (U-1)/U (2 Qb + rho KVb) + (R-1) rho KVb; backward the same all-to-all + 2 rho KVb.
#include <utility>

#include "planner/strategies/head_parallel_ring.hpp"
#include "planner/strategies/ring_pass.hpp"

namespace hsap {

namespace {

class TeA2aP2p : public HeadParallelRing {
 public:
  TeA2aP2p() : HeadParallelRing("te-a2a-p2p", "all-to-all inside groups, zigzag ring there and back between them") {}
  std::vector<std::string> options() const override { return {"dkv-dtype"}; }

 private:
  void run(ProgramBuilder& builder, std::vector<RingPlace> places, const Problem& problem, const Degrees&,
           const StrategyOptions& options) const override {
    ring_pass(builder, std::move(places), {.gradient = options.d_kv.value_or(problem.shape.dtype), .backward_from_last = true});
  }
};

}  // namespace

const Strategy& te_a2a_p2p_strategy() {
  static const TeA2aP2p strategy;
  return strategy;
}

}  // namespace hsap
