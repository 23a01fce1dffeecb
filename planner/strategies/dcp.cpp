// dcp: blocks of documents, the queries, keys, values and outputs of a block together on one rank, placed so that little moves
// while work is balanced; the work of a pair of ranks is done where its queries are or where its keys are (Dynamic Context
// Parallelism, SOSP 2025). Bytes: per pair of ranks the fewer of n_k keys, values and their gradients, and n_q queries, partial
// outputs, gradients and statistics (move_plan.hpp).
// Published: a hypergraph partitioner (KaHyPar) over blocks of 512 to 4096 tokens, machines first, then devices, balance within
// 0.4 between and 0.1 inside machines; each computation block (Q_i, KV_j) is a vertex of its own. Ours: a greedy partitioner in
// the same two levels (place_blocks), where work moves from the queries' rank to the keys' for a whole pair of ranks, and heads
// are not split. The published number of divisions is our number of stages.
#include "planner/placement/placement.hpp"
#include "planner/strategies/needed_exchange.hpp"
#include "planner/strategies/query_moves.hpp"

namespace hsap {

namespace {

constexpr int kDefaultDivisions = 2;
constexpr Token kSmallestBlock = 512;

class Dcp : public Strategy {
 public:
  std::string name() const override { return "dcp"; }
  std::string summary() const override { return "blocks placed for little traffic, KV or Q moves, whichever is cheaper"; }
  bool serves(AttentionKind kind) const override { return kind == AttentionKind::softmax; }
  std::vector<Degrees> degrees(const Problem& problem) const override { return {{1, problem.ranks}}; }
  std::vector<std::string> options() const override { return {"block", "stages", "dkv-dtype"}; }

  std::vector<StrategyOptions> variants(const Problem&, const Degrees& degrees) const override {
    if (degrees.inter == 1) return {StrategyOptions{}};
    std::vector<StrategyOptions> result;
    for (const int divisions : {1, 2, 4}) result.push_back({.placement = {}, .stages = divisions});
    return result;
  }

 private:
  Schedule compile(const Problem& problem, const Degrees& degrees, const StrategyOptions& options) const override {
    BlockOptions blocks;
    blocks.block = options.block > 0 ? options.block : chunk_for(problem.mask, problem.ranks, kSmallestBlock);
    blocks.groups_per_node = problem.uniform_ranks_per_node().value_or(problem.ranks);
    const Placement ranks = place_blocks(problem.mask, problem.ranks, blocks);
    ExchangeRules rules;
    rules.stages = options.stages > 0 ? options.stages : kDefaultDivisions;
    rules.d_kv = options.d_kv;
    const GroupHeads heads{problem.shape.query_heads, problem.shape.kv_heads};
    rules.moving = balancing_moves(problem, ranks, heads, rules, blocks.group_tolerance);
    ProgramBuilder builder(name(), degrees, problem, ranks);
    needed_exchange(builder, groups_of_one(builder), problem.node_of_rank, rules);
    return builder.take();
  }
};

}  // namespace

const Strategy& dcp_strategy() {
  static const Dcp strategy;
  return strategy;
}

}  // namespace hsap
