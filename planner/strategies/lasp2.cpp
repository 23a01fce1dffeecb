// lasp2: linear attention on contiguous shards with one exchange of states per phase (LASP-2, arXiv 2502.07563): every rank
// first sums up its own rows, all states travel at once while each rank attends inside its shard, and each sums up those that
// came in. Nothing waits for a chain of ranks.
//
// As published the states are all-gathered, (P-1) states sent by every rank. Under the causal mask only later ranks have a use
// for a state (in backward: earlier ones), so here it is sent to those only that its document reaches, and reset at document
// starts. For one document on P ranks rank r sends P-1-r states forward and r backward: half the published volume, the same on
// the busiest rank.
#include <string>
#include <utility>
#include <vector>

#include "planner/placement/placement.hpp"
#include "planner/strategies/shard_states.hpp"

namespace hsap {

namespace {

void gather_states(ProgramBuilder& builder, std::vector<Shard>& shards, Shard& shard, Phase phase) {
  constexpr int kAttention = 0, kStates = 1;  // steps
  Exchange exchange;
  if (const auto& exit = shard.exit(phase)) {
    const Slice own = shard.sum_rows(phase, kStates);
    const ShardRange reached = holders_of(shards, exit->beyond);
    for (std::size_t i = reached.begin; i < reached.end; ++i) exchange.sends.push_back({shards[i].rank(), {own}});
  }
  std::vector<Slice> came_in;  // in token order
  if (const auto& entry = shard.entry(phase)) {
    const ShardRange sources = holders_of(shards, entry->beyond);
    for (std::size_t i = sources.begin; i < sources.end; ++i) {
      const RankId source = shards[i].rank();
      came_in.push_back(shard.add_state(phase, shards[i].exit(phase)->rows, "of rank " + std::to_string(source)));
      exchange.recvs.push_back({source, {came_in.back()}});
    }
  }
  builder.communicate(shard.rank(), phase, kStates, std::move(exchange));
  shard.attend(phase, kAttention);
  if (phase == Phase::backward) shard.apply_kept(kStates);
  if (came_in.empty()) return;
  Slice state = came_in.front();
  if (came_in.size() > 1) {
    state = shard.add_state(phase, shard.entry(phase)->beyond, phase == Phase::forward ? "before" : "after");
    builder.compute(shard.rank(), phase, kStates, StateSum{std::move(came_in), state});
  }
  shard.apply(phase, kStates, state);
}

class Lasp2 : public Strategy {
 public:
  std::string name() const override { return "lasp2"; }
  std::string summary() const override { return "linear attention, states exchanged once, to the ranks that need them"; }
  bool serves(AttentionKind kind) const override { return kind == AttentionKind::linear; }
  bool published_ignores_documents() const override { return true; }
  std::vector<Degrees> degrees(const Problem& problem) const override { return {{1, problem.ranks}}; }

 private:
  Schedule compile(const Problem& problem, const Degrees& degrees, const StrategyOptions&) const override {
    ProgramBuilder builder(name(), degrees, problem, place_contiguous(problem.mask, problem.ranks));
    std::vector<Shard> shards = shards_of(builder, boundary_views(builder));
    for (const Phase phase : {Phase::forward, Phase::backward})
      for (Shard& shard : shards) gather_states(builder, shards, shard, phase);
    return builder.take();
  }
};

}  // namespace

const Strategy& lasp2_strategy() {
  static const Lasp2 strategy;
  return strategy;
}

}  // namespace hsap
