// blockdiag: contiguous shards, and exactly the keys and values that the documents need in one all-to-all-v before attention
// runs once over them and the rank's own (joined_exchange.hpp; NeMo Automodel, blockdiag_cp, its general path). Nothing hides
// the exchange and nothing balances the work: the plain form of needed-only, beside which others can be judged. The published
// code has more ways that are left out here: where every straddle fits into one neighbour it pads all ranks' messages to the
// largest, and over several nodes it gathers everything, unless told otherwise.
#include "planner/placement/placement.hpp"
#include "planner/strategies/joined_exchange.hpp"

namespace hsap {

namespace {

class BlockDiag : public Strategy {
 public:
  std::string name() const override { return "blockdiag"; }
  std::string summary() const override { return "contiguous shards, exactly the needed KV in one all-to-all-v"; }
  bool serves(AttentionKind kind) const override { return kind == AttentionKind::softmax; }
  std::vector<Degrees> degrees(const Problem& problem) const override { return {{1, problem.ranks}}; }
  std::vector<std::string> options() const override { return {"dkv-dtype"}; }

 private:
  Schedule compile(const Problem& problem, const Degrees& degrees, const StrategyOptions& options) const override {
    ProgramBuilder builder(name(), degrees, problem, place_contiguous(problem.mask, problem.ranks));
    joined_exchange(builder, groups_of_one(builder), {.d_kv = options.d_kv.value_or(problem.shape.dtype), .sum = DType::fp32});
    return builder.take();
  }
};

}  // namespace

const Strategy& blockdiag_strategy() {
  static const BlockDiag strategy;
  return strategy;
}

}  // namespace hsap
