// burst: zigzag shards and a KV ring forward; backward moves queries and their gradients instead of keys (query_ring.hpp). The
// published code is causal over one sequence and has no cu_seqlens; here each document is cut as in zigzag.
#include <utility>

#include "planner/strategies/query_ring.hpp"
#include "planner/strategies/ring_strategy.hpp"

namespace hsap {

namespace {

class Burst : public RingStrategy {
 public:
  Burst() : RingStrategy("burst", "zigzag KV ring forward, queries and dQ around backward", place_zigzag, place_by_halves) {}
  std::vector<std::string> options() const override { return {}; }

 private:
  void run(ProgramBuilder& builder, std::vector<RingPlace> places, const StrategyOptions&) const override {
    RingPass ring(builder, std::move(places));
    ring.forward();
    query_ring_backward(builder, ring);
  }
};

}  // namespace

const Strategy& burst_strategy() {
  static const Burst strategy;
  return strategy;
}

}  // namespace hsap
