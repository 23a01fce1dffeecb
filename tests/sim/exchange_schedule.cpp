#include "tests/sim/exchange_schedule.hpp"

#include <algorithm>

namespace hsap::test {

TokenSetId rows(Schedule& schedule, Token tokens) {
  const TokenSet set{{0, tokens}};
  const auto known = std::find(schedule.token_sets.begin(), schedule.token_sets.end(), set);
  const auto id = static_cast<TokenSetId>(known - schedule.token_sets.begin());
  if (known == schedule.token_sets.end()) schedule.token_sets.push_back(set);
  return id;
}

Schedule exchange_schedule(RankId ranks, const std::vector<Round>& rounds) {
  Schedule schedule;
  schedule.strategy = "flows";
  schedule.shape = {AttentionKind::softmax, 1, 1, 1, 1, DType::bf16, {}};
  schedule.token_sets = {TokenSet{}};
  schedule.ranks.resize(ranks);
  for (RankProgram& program : schedule.ranks) program.buffers.push_back({Role::k, DType::bf16, 0, {0, 1}, "flows"});
  for (const Round& round : rounds) {
    std::vector<Exchange> exchanges(ranks);
    for (const Flow& flow : round) {
      const Slice part{0, rows(schedule, flow.bytes / 2), {0, 1}};
      exchanges[flow.from].sends.push_back({flow.to, {part}});
      exchanges[flow.to].recvs.push_back({flow.from, {part}});
    }
    for (RankId rank = 0; rank < ranks; ++rank) {
      if (exchanges[rank] == Exchange{}) continue;
      PooledList<Op>& ops = schedule.ranks[rank].forward;
      ops.push_back({static_cast<OpIndex>(ops.size()), kCommunicationStream, 0, {}, std::move(exchanges[rank])});
    }
  }
  return schedule;
}

ClusterTopology bare_switch(RankId gpus, const std::string& bandwidth, const std::string& latency) {
  const std::string count = std::to_string(gpus);
  return ClusterTopology::parse(
      "name: switch\nnodes: " + count +
          "\ngpus_per_node: 1\n"
          "gpu: {kind: H100 SXM, bf16_dense: 989.4 TFLOP/s, memory_bandwidth: 3.35 TB/s, memory: 80 GB, multiprocessors: 132}\n"
          "island: {kind: plain, gpus: " +
          count + ", bandwidth: " + bandwidth + ", latency: " + latency + "}\n",
      "switch");
}

std::vector<Round> ring(RankId ranks, Token bytes) {
  Round round;
  for (RankId rank = 0; rank < ranks; ++rank) round.push_back({rank, (rank + 1) % ranks, bytes});
  return std::vector<Round>(ranks - 1, round);
}

std::vector<Round> all_to_all(RankId ranks, Token bytes) {
  Round round;
  for (RankId from = 0; from < ranks; ++from)
    for (RankId distance = 1; distance < ranks; ++distance) round.push_back({from, (from + distance) % ranks, bytes});
  return {round};
}

}  // namespace hsap::test
