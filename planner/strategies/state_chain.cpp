#include "planner/strategies/state_chain.hpp"

#include "planner/strategies/shard_states.hpp"

namespace hsap {

namespace {

/// One rank in one phase: states come from the rank `from` and go to the rank `to`.
void add_rank(ProgramBuilder& builder, Shard& shard, Phase phase, RankId from, RankId to) {
  constexpr int kAttention = 0, kStates = 1;  // steps
  const auto send = [&](const Slice& state) {
    builder.communicate(shard.rank(), phase, kStates, Exchange{{{to, {state}}}, {}});
  };
  // A state that does not wait for the chain is sent before the long local attention.
  const bool through = shard.is_passed_through();
  if (shard.exit(phase) && !through) send(shard.sum_rows(phase, kStates));
  shard.attend(phase, kAttention);
  if (shard.entry(phase)) {
    const Slice state = shard.add_state(phase, shard.entry(phase)->beyond, phase == Phase::forward ? "before" : "after");
    builder.communicate(shard.rank(), phase, kStates, Exchange{{}, {{from, {state}}}});
    if (through) send(shard.sum_rows(phase, kStates, state));
    shard.apply(phase, kStates, state);
  }
  if (phase == Phase::backward) shard.apply_kept(kStates);
}

}  // namespace

void state_chain(ProgramBuilder& builder, const std::vector<View>& chain) {
  std::vector<Shard> shards = shards_of(builder, chain);
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const RankId previous = shards[i > 0 ? i - 1 : i].rank();
    const RankId next = shards[i + 1 < shards.size() ? i + 1 : i].rank();
    add_rank(builder, shards[i], Phase::forward, previous, next);
    add_rank(builder, shards[i], Phase::backward, next, previous);
  }
}

}  // namespace hsap
