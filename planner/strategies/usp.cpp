// usp: Ulysses inside groups of U consecutive ranks, a zigzag ring over the R groups (Fang and Zhao 2024, arXiv 2405.07719).
// After the all-to-all a KV block has U times the tokens and 1/U of the heads, so a hop costs what it costs in the flat ring,
// and there are R-1 instead of P-1. 1 x P is zigzag, P x 1 is ulysses. Bytes sent per rank, rho = max(1, U / kv_heads):
// forward (U-1)/U (2 Qb + rho KVb) + (R-1) rho KVb; backward the same all-to-all and the ring's with gradients in fp32.
#include <utility>

#include "planner/strategies/head_parallel_ring.hpp"
#include "planner/strategies/ring_strategy.hpp"

namespace hsap {

namespace {

class Usp : public HeadParallelRing {
 public:
  Usp() : HeadParallelRing("usp", "ulysses inside groups, zigzag ring between them") {}
  bool published_ignores_documents() const override { return true; }
  std::vector<std::string> options() const override { return {"dkv-dtype", "kv"}; }

 private:
  void run(ProgramBuilder& builder, std::vector<RingPlace> places, const Problem&, const Degrees&,
           const StrategyOptions& options) const override {
    ring_pass(builder, std::move(places), ring_rules(options));
  }
};

}  // namespace

const Strategy& usp_strategy() {
  static const Usp strategy;
  return strategy;
}

}  // namespace hsap
