#include "planner/strategies/state_gather.hpp"

#include <string>
#include <utility>

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

}  // namespace

void state_gather(ProgramBuilder& builder, const std::vector<View>& chain) {
  std::vector<Shard> shards = shards_of(builder, chain);
  for (const Phase phase : {Phase::forward, Phase::backward})
    for (Shard& shard : shards) gather_states(builder, shards, shard, phase);
}

}  // namespace hsap
