// On an idle switch the cost model and the simulator agree within 1 % for hand-made schedules (strategies:
// test_strategies_agree.cpp).
#include <catch2/catch.hpp>

#include <algorithm>
#include <random>

#include "planner/cost/estimate.hpp"
#include "sim/simulate.hpp"
#include "tests/sim/exchange_schedule.hpp"

using namespace hsap;
using namespace hsap::test;

namespace {

struct Both {
  PhaseTimeline estimated;
  PhaseTimeline simulated;
};

Both run(const Schedule& schedule, const ClusterTopology& cluster) {
  const KernelTimes kernels(cluster);
  return {estimate(schedule, cluster, kernels).forward, simulate(schedule, cluster, kernels).forward};
}

/// Every op, not only the last.
void check_ops_agree(const Both& both, double epsilon) {
  REQUIRE(both.estimated.ranks.size() == both.simulated.ranks.size());
  for (std::size_t rank = 0; rank < both.estimated.ranks.size(); ++rank)
    for (std::size_t op = 0; op < both.estimated.ranks[rank].size(); ++op) {
      CAPTURE(rank, op);
      CHECK(both.estimated.ranks[rank][op].begin ==
            Approx(both.simulated.ranks[rank][op].begin).epsilon(epsilon).margin(1e-12));
      CHECK(both.estimated.ranks[rank][op].end == Approx(both.simulated.ranks[rank][op].end).epsilon(epsilon).margin(1e-12));
    }
}

/// Attention of `rows` tokens per rank beside each round of a ring: compute and messages overlap, the next round waits for
/// both.
Schedule overlapped_ring(RankId ranks, Token rows_per_rank) {
  Schedule schedule = exchange_schedule(ranks, {});
  schedule.shape = {AttentionKind::softmax, 8, 2, 128, 128, DType::bf16, {}};
  schedule.mask = DocumentMask({0, ranks * rows_per_rank});
  for (RankId rank = 0; rank < ranks; ++rank)
    schedule.token_sets.push_back(TokenSet{{rank * rows_per_rank, (rank + 1) * rows_per_rank}});
  for (RankId rank = 0; rank < ranks; ++rank) {
    RankProgram& program = schedule.ranks[rank];
    const TokenSetId own = 1 + rank;
    const HeadRange query{0, 8}, key{0, 2};
    program.buffers = {{Role::q, DType::bf16, own, query, "q"}, {Role::o, DType::bf16, own, query, "o"}};
    for (RankId owner = 0; owner < ranks; ++owner) program.buffers.push_back({Role::k, DType::bf16, 1 + owner, key, "k"});
    for (RankId round = 0; round < ranks; ++round) {
      const RankId held = (rank + ranks - round) % ranks;
      const RankId coming = (held + ranks - 1) % ranks;
      const OpIndex first = static_cast<OpIndex>(program.forward.size());
      const OpList arrived = round == 0 ? OpList{} : OpList{first - 2};
      if (round + 1 < ranks) {
        const Message send{(rank + 1) % ranks, {{2 + held, 1 + held, key}}};
        const Message receive{(rank + ranks - 1) % ranks, {{2 + coming, 1 + coming, key}}};
        program.forward.push_back({first, kCommunicationStream, static_cast<int>(round), arrived, Exchange{{send}, {receive}}});
      }
      const Slice q{0, own, query}, o{1, own, query}, k{2 + held, 1 + held, key};
      const auto index = static_cast<OpIndex>(program.forward.size());
      program.forward.push_back({index, kComputeStream, static_cast<int>(round), arrived, Attend{q, k, k, o, {}}});
    }
  }
  return schedule;
}

}  // namespace

TEST_CASE("ring: estimate and simulate agree op by op") {
  const RankId ranks = GENERATE(2U, 3U, 8U, 16U);
  CAPTURE(ranks);
  check_ops_agree(run(exchange_schedule(ranks, ring(ranks, 4 * kMiB)), bare_switch(ranks)), 1e-9);
}

TEST_CASE("all-to-all and all-gather at once: estimate and simulate agree op by op") {
  const RankId ranks = GENERATE(2U, 3U, 8U, 16U);
  CAPTURE(ranks);
  check_ops_agree(run(exchange_schedule(ranks, all_to_all(ranks, 4 * kMiB)), bare_switch(ranks)), 1e-9);
}

TEST_CASE("all-gather of uneven shards: estimate and simulate agree within 1 %") {
  constexpr RankId kRanks = 8;
  Round round;
  for (RankId from = 0; from < kRanks; ++from)
    for (RankId to = 0; to < kRanks; ++to)
      if (from != to) round.push_back({from, to, (4 + from) * kMiB});
  check_ops_agree(run(exchange_schedule(kRanks, {round}), bare_switch(kRanks)), 0.01);
}

TEST_CASE("uneven all-to-all, half of the pairs silent, three rounds: estimate and simulate agree within 1 %") {
  const unsigned seed = GENERATE(21U, 22U, 23U);
  CAPTURE(seed);
  std::mt19937 random(seed);
  constexpr RankId kRanks = 8;
  const std::vector<Round> pairs = all_to_all(kRanks, 2);
  std::vector<Round> rounds(3);
  for (Round& round : rounds)
    for (const Flow& flow : pairs.front())
      if (random() % 2 == 0) round.push_back({flow.from, flow.to, 2 * static_cast<Token>(1 + random() % kMiB)});
  const Both both = run(exchange_schedule(kRanks, rounds), bare_switch(kRanks));
  CHECK(both.estimated.seconds() == Approx(both.simulated.seconds()).epsilon(0.01));
}

TEST_CASE("gather, scatter and incast of uneven messages: estimate and simulate agree op by op") {
  Round gather, scatter;
  for (RankId rank = 1; rank < 7; ++rank) {
    gather.push_back({rank, 0, rank * kMiB});
    scatter.push_back({0, rank, (8 - rank) * kMiB});
  }
  check_ops_agree(run(exchange_schedule(7, {gather, scatter, gather}), bare_switch(7)), 1e-9);
}

TEST_CASE("rounds of at most one send and one receive per rank, of any size: estimate and simulate agree op by op") {
  const unsigned seed = GENERATE(11U, 12U, 13U, 14U);
  CAPTURE(seed);
  std::mt19937 random(seed);
  constexpr RankId kRanks = 9;
  std::vector<Round> rounds(6);
  std::vector<RankId> to(kRanks);
  for (RankId rank = 0; rank < kRanks; ++rank) to[rank] = rank;
  for (Round& round : rounds) {
    std::shuffle(to.begin(), to.end(), random);
    for (RankId from = 0; from < kRanks; ++from)
      if (to[from] != from && random() % 4 != 0) round.push_back({from, to[from], 2 * static_cast<Token>(1 + random() % kMiB)});
  }
  check_ops_agree(run(exchange_schedule(kRanks, rounds), bare_switch(kRanks)), 1e-9);
}

TEST_CASE("ring under attention: estimate and simulate agree, whichever is longer") {
  const Token rows_per_rank = GENERATE(256, 4096, 16384);
  CAPTURE(rows_per_rank);
  const Schedule schedule = overlapped_ring(4, rows_per_rank);
  const Both both = run(schedule, bare_switch(4));
  check_ops_agree(both, 1e-9);
  const KernelTimes kernels(bare_switch(4));
  for (RankId rank = 0; rank < 4; ++rank) {  // never faster than a rank's kernels one after the other
    double chain = 0;
    for (const Op& op : schedule.ranks[rank].forward)
      if (!std::holds_alternative<Exchange>(op.body)) chain += kernels.seconds(schedule, rank, op);
    CHECK(both.simulated.seconds() >= chain * (1 - 1e-9));
  }
}

TEST_CASE("two rails: routes over NICs agree too") {
  const ClusterTopology cluster = ClusterTopology::read(HSAP_SOURCE_DIR "/topologies/dgx-h100-2.yaml");
  check_ops_agree(run(exchange_schedule(16, ring(16, 4 * kMiB)), cluster), 1e-9);
  check_ops_agree(run(exchange_schedule(16, {{{0, 8, kMiB}, {1, 9, 2 * kMiB}, {9, 0, 3 * kMiB}}}), cluster), 1e-9);
}
