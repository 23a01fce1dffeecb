// distflashattn: contiguous shards, and in step t keys and values from the rank t places before, fetched ahead; ranks that have
// no earlier rank at that distance help those that still have work (DistFlashAttn, Li et al. 2024, arXiv 2310.03294, first
// published as LightSeq). Two ranks D apart meet in step min(D, P - D): up to P/2 the keys go to the queries, beyond it the
// queries go to the keys, and partial outputs back. So every rank is busy in nearly all of floor(P/2) + 1 steps instead of P.
// Bytes of all ranks on one document, with n = (P-1-floor(P/2)) (P-floor(P/2)) / 2 pairs of ranks that are helped and
// m = P (P-1) / 2 - n others, KVb, Qb and LSEb of one rank: forward m KVb + n (2 Qb + LSEb); backward m KVb of d_k, d_v and
// n (2 Qb + 2 LSEb) of d_o, lse, delta and d_q.
// Backward moves what forward moved, keys and values kept: the published checkpoints lie behind attention, so that its forward
// pass and traffic are not repeated. [inference: the published backward reuses the forward's assignment of helpers]
// The published code knows one causal sequence. On packs only what documents need moves here, by the same law.
#include <algorithm>
#include <cstdlib>

#include "planner/placement/placement.hpp"
#include "planner/strategies/needed_exchange.hpp"

namespace hsap {

namespace {

class DistFlashAttn : public Strategy {
 public:
  std::string name() const override { return "distflashattn"; }
  std::string summary() const override { return "contiguous shards, KV by rank distance, idle ranks help with queries"; }
  bool serves(AttentionKind kind) const override { return kind == AttentionKind::softmax; }
  std::vector<Degrees> degrees(const Problem& problem) const override { return {{1, problem.ranks}}; }
  std::vector<std::string> options() const override { return {"kv", "dkv-dtype"}; }
  bool published_ignores_documents() const override { return true; }

  std::vector<StrategyOptions> variants(const Problem&, const Degrees& degrees) const override {
    if (degrees.inter == 1) return {StrategyOptions{}};
    return {{.placement = {}, .kv = KvForBackward::kept}, {.placement = {}, .kv = KvForBackward::again}};
  }

 private:
  Schedule compile(const Problem& problem, const Degrees& degrees, const StrategyOptions& options) const override {
    ProgramBuilder builder(name(), degrees, problem, place_contiguous(problem.mask, problem.ranks));
    const int ranks = problem.ranks;
    ExchangeRules rules;
    rules.moving = [ranks](int query_rank, int key_rank) {
      return 2 * std::abs(query_rank - key_rank) > ranks ? Moving::q : Moving::kv;
    };
    rules.stages = std::max(1, ranks / 2);
    rules.stage_of = [ranks](int query_rank, int key_rank) {
      const int distance = std::abs(query_rank - key_rank);
      return std::min(distance, ranks - distance) - 1;
    };
    rules.kv = options.kv.value_or(KvForBackward::kept);
    rules.d_kv = options.d_kv;
    needed_exchange(builder, groups_of_one(builder), problem.node_of_rank, rules);
    return builder.take();
  }
};

}  // namespace

const Strategy& distflashattn_strategy() {
  static const DistFlashAttn strategy;
  return strategy;
}

}  // namespace hsap
