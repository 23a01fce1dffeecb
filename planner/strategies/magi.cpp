// magi: the pack in equal chunks, dealt by mask area at equal numbers of chunks per rank, then exactly the needed keys and
// values in overlapped stages, and their gradients back (MagiAttention, its documentation and source: dispatch, group cast,
// group reduce). Bytes, with N = needed keys of all ranks and kvt = bytes of one key and value: forward N kvt, backward N kvt
// of d_k, d_v, and N kvt more with kv=again, which is what the published backward does with its prefetch of each stage.
// Published chunks must divide the tokens; here the last one may be short and ranks may differ by one chunk. The published
// group cast sends a key that several ranks of a node need once to that node in its native form, and to each rank in its
// all-to-all-v form, which is ours; its messages are collective, ours rounds without contention.
#include "planner/placement/placement.hpp"
#include "planner/strategies/needed_exchange.hpp"

namespace hsap {

namespace {

constexpr int kDefaultStages = 2;  // published: 1 to 4, tuned

class Magi : public Strategy {
 public:
  std::string name() const override { return "magi"; }
  std::string summary() const override { return "chunks dealt by mask area, needed KV in overlapped stages"; }
  bool serves(AttentionKind kind) const override { return kind == AttentionKind::softmax; }
  std::vector<Degrees> degrees(const Problem& problem) const override { return {{1, problem.ranks}}; }
  std::vector<std::string> options() const override { return {"block", "stages", "kv", "dkv-dtype"}; }

  std::vector<StrategyOptions> variants(const Problem&, const Degrees& degrees) const override {
    if (degrees.inter == 1) return {StrategyOptions{}};
    std::vector<StrategyOptions> result;
    for (const int stages : {1, 2, 4}) result.push_back({.placement = {}, .stages = stages});
    result.push_back({.placement = {}, .stages = kDefaultStages, .kv = KvForBackward::again});
    return result;
  }

 private:
  Schedule compile(const Problem& problem, const Degrees& degrees, const StrategyOptions& options) const override {
    const Token chunk = options.block > 0 ? options.block : chunk_for(problem.mask, problem.ranks);
    ProgramBuilder builder(name(), degrees, problem, place_chunks_by_pairs(problem.mask, problem.ranks, chunk));
    ExchangeRules rules;
    rules.stages = options.stages > 0 ? options.stages : kDefaultStages;
    rules.kv = options.kv.value_or(KvForBackward::kept);
    rules.d_kv = options.d_kv;
    needed_exchange(builder, groups_of_one(builder), problem.node_of_rank, rules);
    return builder.take();
  }
};

}  // namespace

const Strategy& magi_strategy() {
  static const Magi strategy;
  return strategy;
}

}  // namespace hsap
