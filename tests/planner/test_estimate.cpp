// The cost model, worked by hand: fair queues, messages that share an Exchange's links, what it leaves out, and the same
// refusals as the simulator. (Agreement with the simulator: tests/agreement.)
#include "planner/cost/estimate.hpp"

#include <catch2/catch.hpp>
#include <chrono>

#include "planner/cost/fair_queue.hpp"
#include "planner/ir/errors.hpp"
#include "tests/sim/exchange_schedule.hpp"

using namespace hsap;
using namespace hsap::test;
using Catch::Matchers::Contains;

namespace {

constexpr double kWidth = 50e9;
constexpr double kLatency = 5e-6;
constexpr double kBytes = static_cast<double>(kGiB);

PhaseTimeline run(RankId ranks, const std::vector<Round>& rounds) {
  const ClusterTopology cluster = bare_switch(ranks);
  return estimate(exchange_schedule(ranks, rounds), cluster, KernelTimes(cluster)).forward;
}

Approx exactly(double seconds) { return Approx(seconds).epsilon(1e-9); }

using Ids = std::vector<FairQueue::Id>;

}  // namespace

TEST_CASE("fair queue: messages that arrive together leave in order of size, each served alike") {
  FairQueue queue(10);  // bytes per second
  queue.arrive(0, 1, 30);
  queue.arrive(0, 2, 10);
  CHECK(queue.next_departure() == exactly(2));  // both at 5
  Ids left;
  queue.depart(left);
  CHECK(left == Ids{2});
  CHECK(queue.next_departure() == exactly(4));  // 20 bytes left, alone
}

TEST_CASE("fair queue: a late arrival slows those before it") {
  FairQueue queue(10);
  queue.arrive(0, 1, 30);
  queue.arrive(1, 2, 10);                       // 1 has 20 left
  CHECK(queue.next_departure() == exactly(3));  // 2 is through
  Ids left;
  queue.depart(left);
  CHECK(left == Ids{2});
  queue.arrive(3, 3, 10);  // 1 has 10 left as well
  CHECK(queue.next_departure() == exactly(5));
  left.clear();
  queue.depart(left);
  CHECK(left == Ids{1, 3});
  CHECK(queue.next_departure() == std::numeric_limits<double>::infinity());
}

TEST_CASE("estimate: one message, ring and all-to-all in closed form") {
  CHECK(run(2, {{{0, 1, kGiB}}}).seconds() == exactly(kLatency + kBytes / kWidth));
  CHECK(run(8, ring(8, 64 * kMiB)).seconds() == exactly(7 * (kLatency + kBytes / 16 / kWidth)));
  CHECK(run(8, all_to_all(8, 8 * kMiB)).seconds() == exactly(kLatency + 7 * kBytes / 128 / kWidth));
  CHECK(run(256, all_to_all(256, kMiB / 4)).seconds() == Approx(1.341934e-3).epsilon(1e-6));
}

TEST_CASE("estimate: an Exchange's messages share its ports, both directions are free") {
  const PhaseTimeline incast = run(4, {{{1, 0, kGiB}, {2, 0, kGiB}, {3, 0, kGiB / 2}}});
  CHECK(incast.ranks[3][0].end == exactly(kLatency + 1.5 * kBytes / kWidth));
  CHECK(incast.ranks[0][0].end == exactly(kLatency + 2.5 * kBytes / kWidth));
  CHECK(run(2, {{{0, 1, kGiB}, {1, 0, kGiB}}}).seconds() == exactly(kLatency + kBytes / kWidth));
  const PhaseTimeline fan = run(4, {{{0, 1, kGiB}, {0, 2, kGiB}, {3, 2, kGiB}}});
  for (const RankId rank : {0U, 1U, 2U, 3U}) CHECK(fan.ranks[rank][0].end == exactly(kLatency + 2 * kBytes / kWidth));
}

TEST_CASE("estimate: a message that is posted late does not slow those that are through by then") {
  // Rank 2 receives from rank 0 at once, and from rank 1 after rank 1 has heard from rank 0.
  Schedule schedule = exchange_schedule(3, {});
  const Slice part{0, rows(schedule, kGiB / 2), {0, 1}};
  const auto exchange = [&](RankId rank, Exchange body) {
    PooledList<Op>& ops = schedule.ranks[rank].forward;
    ops.push_back({static_cast<OpIndex>(ops.size()), kCommunicationStream, 0, {}, std::move(body)});
  };
  exchange(0, {{{2, {part}}}, {}});
  exchange(0, {{{1, {part}}}, {}});
  exchange(1, {{}, {{0, {part}}}});
  exchange(1, {{{2, {part}}}, {}});
  exchange(2, {{}, {{0, {part}}, {1, {part}}}});
  const ClusterTopology cluster = bare_switch(3);
  const PhaseTimeline timeline = estimate(schedule, cluster, KernelTimes(cluster)).forward;
  const double step = kLatency + kBytes / kWidth;
  CHECK(timeline.ranks[0][0].end == exactly(step));
  CHECK(timeline.ranks[1][0].end == exactly(2 * step));
  CHECK(timeline.ranks[2][0].end == exactly(3 * step));
}

TEST_CASE("estimate ignores contention between Exchanges") {
  // Two servers whose two GPUs share a NIC: a pair of ranks each, as if the NIC were theirs alone.
  const ClusterTopology cluster = ClusterTopology::parse(
      "name: small nodes\nnodes: 2\ngpus_per_node: 2\n"
      "gpu: {kind: A100 SXM 80GB, bf16_dense: 312 TFLOP/s, memory_bandwidth: 2039 GB/s, memory: 80 GB, multiprocessors: 108}\n"
      "island: {kind: nvlink, gpus: 2, bandwidth: 240 GB/s, latency: 3.4 us}\n"
      "nics: {serves: [[0, 1]], bandwidth: 50 GB/s, latency: 10 us}\n"
      "network: {shape: leaf-spine, nodes_per_leaf: 2, oversubscription: 1, leaf_latency: 1 us, spine_latency: 1 us}\n",
      "small nodes");
  const Schedule schedule = exchange_schedule(4, {{{0, 2, kGiB}, {1, 3, kGiB}}});
  const double alone = cluster.route(0, 2).latency_seconds + kBytes / kWidth;
  CHECK(estimate(schedule, cluster, KernelTimes(cluster)).forward.seconds() == exactly(alone));
}

TEST_CASE("estimate refuses what the simulator refuses, in the same words") {
  Schedule schedule = exchange_schedule(2, {{{0, 1, kMiB}}, {{1, 0, kMiB}}});
  schedule.ranks[1].forward.pop_back();
  const ClusterTopology cluster = bare_switch(2);
  const KernelTimes kernels(cluster);
  CHECK_THROWS_AS(estimate(schedule, cluster, kernels), InvalidInput);
  CHECK_THROWS_WITH(
      estimate(schedule, cluster, kernels),
      Contains(
          "forward: 1 of 3 ops would wait for ever, first: rank 0 op 1 (exchange) receives from rank 1, which never sends it"));
  CHECK_THROWS_WITH(estimate(exchange_schedule(3, {}), cluster, kernels), Contains("3 ranks") && Contains("2 GPUs"));
}

TEST_CASE("estimate of 65,280 messages takes well under a second") {
  const ClusterTopology cluster = bare_switch(256);
  const Schedule schedule = exchange_schedule(256, ring(256, kMiB));
  const KernelTimes kernels(cluster);
  const auto start = std::chrono::steady_clock::now();
  estimate(schedule, cluster, kernels);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  CHECK(seconds < 5);  // 0.1 s on a quiet core; wide, for busy and sanitised machines
}
