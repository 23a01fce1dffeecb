// dcp: blocks of documents, the queries, keys, values and outputs of a block together on one rank, placed so that little moves
// while work is balanced; the work of a pair of ranks is done where its queries are or where its keys are (Dynamic Context
// Parallelism, SOSP 2025). Bytes: per pair of ranks the fewer of n_k keys, values and their gradients, and n_q queries, partial
// outputs, gradients and statistics (move_plan.hpp).
// Published: a hypergraph partitioner (KaHyPar) over blocks of 512 to 4096 tokens, machines first, then devices, balance within
// 0.4 between and 0.1 inside machines; each computation block (Q_i, KV_j) is a vertex of its own. Ours: a greedy partitioner in
// the same two levels (place_blocks), where work moves from the queries' rank to the keys' for a whole pair of ranks, and heads
// are not split. The published number of divisions is our number of stages.
#include <algorithm>
#include <set>
#include <utility>

#include "planner/placement/placement.hpp"
#include "planner/strategies/needed_exchange.hpp"

namespace hsap {

namespace {

constexpr int kDefaultDivisions = 2;
constexpr Token kSmallestBlock = 512;

/// Where queries move, for each pair of ranks: where that sends fewer bytes, or takes work off a rank that has too much, and
/// the keys' rank keeps within the tolerance.
class QueryMoves {
 public:
  QueryMoves(const Problem& problem, const Placement& ranks, const ExchangeRules& rules, double tolerance) {
    const TokenSet all{{0, problem.mask.tokens()}};
    std::vector<double> pairs;  // worked out on each rank
    for (const TokenSet& tokens : ranks) pairs.push_back(static_cast<double>(problem.mask.pairs(tokens, all)));
    const double most = static_cast<double>(problem.mask.pairs()) / static_cast<double>(ranks.size()) * (1 + tolerance);

    const GroupHeads heads{problem.shape.query_heads, problem.shape.kv_heads};
    const double kv_bytes = bytes_of_moving_kv(problem.shape, heads, rules);
    const double q_bytes = bytes_of_moving_q(problem.shape, heads, rules);
    struct Candidate {
      std::size_t queries, keys;  // ranks
      double pairs, saving;
    };
    std::vector<Candidate> candidates;
    for_each_need(problem.mask, ranks, [&](const Need& need) {
      const TokenSet queries = queries_of(need, problem.mask, ranks);
      candidates.push_back({static_cast<std::size_t>(need.query_group), static_cast<std::size_t>(need.key_group),
                            static_cast<double>(problem.mask.pairs(queries, need.keys)),
                            kv_bytes * static_cast<double>(need.keys.size()) - q_bytes * static_cast<double>(queries.size())});
    });
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate& a, const Candidate& b) { return a.saving > b.saving; });
    for (const Candidate& candidate : candidates) {
      if (candidate.saving <= 0 && pairs[candidate.queries] <= most) continue;
      if (pairs[candidate.keys] + candidate.pairs > most) continue;
      pairs[candidate.queries] -= candidate.pairs;
      pairs[candidate.keys] += candidate.pairs;
      moved_.insert({static_cast<int>(candidate.queries), static_cast<int>(candidate.keys)});
    }
  }

  Moving operator()(int query_rank, int key_rank) const {
    return moved_.contains({query_rank, key_rank}) ? Moving::q : Moving::kv;
  }

 private:
  std::set<std::pair<int, int>> moved_;
};

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
    rules.moving = QueryMoves(problem, ranks, rules, blocks.group_tolerance);
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
