// Flows that share links, worked by hand. B = bytes, w = bandwidth of the link that binds. All to 0.1 %.
#include <catch2/catch.hpp>

#include "sim/simulate.hpp"
#include "tests/sim/exchange_schedule.hpp"

using namespace hsap;
using namespace hsap::test;

namespace {

constexpr double kBytes = static_cast<double>(kGiB);
constexpr double kWidth = 50e9;
constexpr double kLatency = 5e-6;

PhaseTimeline run(const ClusterTopology& cluster, RankId ranks, const std::vector<Round>& rounds) {
  return simulate(exchange_schedule(ranks, rounds), cluster, KernelTimes(cluster)).forward;
}

Approx near(double seconds) { return Approx(seconds).epsilon(1e-3); }

/// Nodes of two GPUs that share one 50 GB/s NIC; the island is faster or as fast.
ClusterTopology two_gpu_nodes(int nodes, const std::string& island, const std::string& network) {
  return ClusterTopology::parse(
      "name: small nodes\nnodes: " + std::to_string(nodes) +
          "\ngpus_per_node: 2\n"
          "gpu: {kind: H100 SXM, bf16_dense: 989.4 TFLOP/s, memory_bandwidth: 3.35 TB/s, memory: 80 GB, "
          "multiprocessors: 132}\n"
          "island: " +
          island + "\n" +
          "nics: {serves: [[0, 1]], bandwidth: 50 GB/s, latency: 10 us}\n"
          "network: " +
          network + "\n",
      "small nodes");
}
const std::string kNvlink = "{kind: nvlink, gpus: 2, bandwidth: 400 GB/s, latency: 2 us}";
const std::string kOneLeaf =
    "{shape: leaf-spine, nodes_per_leaf: 8, oversubscription: 1, leaf_latency: 1 us, spine_latency: 1 us}";

}  // namespace

TEST_CASE("one message takes the latency of its route and its bytes over the bandwidth") {
  const ClusterTopology cluster = bare_switch(2);
  CHECK(run(cluster, 2, {{{0, 1, kGiB}}}).seconds() == Approx(0.021479836).epsilon(1e-6));
  CHECK(run(cluster, 2, {{{0, 1, 2}}}).seconds() == Approx(kLatency + 2 / kWidth).epsilon(1e-9));
}

TEST_CASE("a message without bytes takes the latency only") {
  CHECK(run(bare_switch(2), 2, {{{0, 1, 0}}}).seconds() == Approx(kLatency).epsilon(1e-9));
}

TEST_CASE("a message of a rank to itself takes no time") {
  const PhaseTimeline timeline = run(bare_switch(2), 2, {{{0, 0, kGiB}}});
  CHECK(timeline.ranks[0].size() == 1);
  CHECK(timeline.seconds() == 0);
}

TEST_CASE("two flows on one link: each gets half, then the longer one all") {
  // 1 -> 0 has B, 2 -> 0 has B/2: both at w/2 until the shorter is through at 2 (B/2) / w, the longer then has B/2 left.
  const PhaseTimeline timeline = run(bare_switch(3), 3, {{{1, 0, kGiB}, {2, 0, kGiB / 2}}});
  CHECK(timeline.ranks[2][0].end == near(kLatency + kBytes / kWidth));
  CHECK(timeline.ranks[1][0].end == near(kLatency + 1.5 * kBytes / kWidth));
  CHECK(timeline.ranks[0][0].end == near(kLatency + 1.5 * kBytes / kWidth));
}

TEST_CASE("flows of unequal latency on one link have equal shares") {
  // On PCIe a GPU's port carries its island's and the network's traffic. 1 -> 0 over the island: 1 us. 2 -> 0 over two NICs.
  const ClusterTopology cluster = two_gpu_nodes(2, "{kind: pcie, gpus: 2, bandwidth: 50 GB/s, latency: 1 us}", kOneLeaf);
  const double slow = cluster.route(2, 0).latency_seconds;
  REQUIRE(cluster.route(1, 0).latency_seconds == Approx(1e-6));
  REQUIRE(slow > 20e-6);
  const Token bytes = 4 * kMiB;  // 84 us: the difference of the latencies matters
  const double whole = static_cast<double>(bytes) / kWidth;
  const PhaseTimeline timeline = run(cluster, 3, {{{1, 0, bytes}, {2, 0, bytes}}});
  // 1 -> 0 is alone until `slow`, shares until its end, then 2 -> 0 is alone; the port is full from 1 us on.
  const double left = whole - (slow - 1e-6);
  CHECK(timeline.ranks[1][0].end == near(slow + 2 * left));
  CHECK(timeline.ranks[2][0].end == near(1e-6 + 2 * whole));
}

TEST_CASE("incast: n senders share the receiver's port") {
  const RankId senders = GENERATE(2, 3, 7);
  Round round;
  for (RankId rank = 1; rank <= senders; ++rank) round.push_back({rank, 0, 64 * kMiB});
  const PhaseTimeline timeline = run(bare_switch(senders + 1), senders + 1, {round});
  const double expected = kLatency + senders * 64.0 * static_cast<double>(kMiB) / kWidth;
  for (RankId rank = 0; rank <= senders; ++rank) CHECK(timeline.ranks[rank][0].end == near(expected));
}

TEST_CASE("both directions at once do not slow each other") {
  const PhaseTimeline timeline = run(bare_switch(2), 2, {{{0, 1, kGiB}, {1, 0, kGiB}}});
  CHECK(timeline.ranks[0][0].end == Approx(0.021479836).epsilon(1e-6));
  CHECK(timeline.ranks[1][0].end == Approx(0.021479836).epsilon(1e-6));
}

TEST_CASE("the bandwidth-latency product does not bound a flow") {
  // 450 GB/s and 5 us: a TCP window of 4 MiB would cap this at 419 GB/s.
  CHECK(run(bare_switch(2, "450 GB/s"), 2, {{{0, 1, kGiB}}}).seconds() == Approx(0.002391093).epsilon(1e-6));
}

TEST_CASE("fan-out 0 -> 1, 0 -> 2 crossed by 3 -> 2: all get half a port") {
  const PhaseTimeline timeline = run(bare_switch(4), 4, {{{0, 1, kGiB}, {0, 2, kGiB}, {3, 2, kGiB}}});
  for (const RankId rank : {0U, 1U, 2U, 3U}) CHECK(timeline.ranks[rank][0].end == near(kLatency + 2 * kBytes / kWidth));
}

TEST_CASE("an oversubscribed spine is shared by what crosses it, not by what stays below a leaf") {
  // Two nodes per leaf, one NIC of 50 GB/s each: a leaf's uplink has 2 x 50 / 2 = 50 GB/s.
  const ClusterTopology cluster = two_gpu_nodes(
      4, kNvlink, "{shape: leaf-spine, nodes_per_leaf: 2, oversubscription: 2, leaf_latency: 1 us, spine_latency: 1 us}");
  // Node 0 -> node 2 and node 1 -> node 3 cross the spine: 25 GB/s each.
  const PhaseTimeline crossing = run(cluster, 8, {{{0, 4, kGiB}, {2, 6, kGiB}}});
  CHECK(crossing.seconds() == near(cluster.route(0, 4).latency_seconds + 2 * kBytes / kWidth));
  // Node 0 -> node 1 and node 2 -> node 3 stay below their leaves: 50 GB/s each.
  const PhaseTimeline staying = run(cluster, 8, {{{0, 2, kGiB}, {4, 6, kGiB}}});
  CHECK(staying.seconds() == near(cluster.route(0, 2).latency_seconds + kBytes / kWidth));
}

TEST_CASE("a flat ring goes at the pace of the one NIC at each node boundary") {
  // 4 nodes of 2 GPUs: hops 1 -> 2, 3 -> 4, 5 -> 6, 7 -> 0 use a NIC, the others NVLink. A rank at a boundary receives fast and
  // sends slowly; everyone waits for it: ranks - 1 steps of the slow hop.
  const ClusterTopology cluster = two_gpu_nodes(4, kNvlink, kOneLeaf);
  const double step = cluster.route(1, 2).latency_seconds + 64.0 * static_cast<double>(kMiB) / kWidth;
  CHECK(run(cluster, 8, ring(8, 64 * kMiB)).seconds() == near(7 * step));
}

TEST_CASE("two rings through the same NIC take twice as long at the boundary") {
  // Rank pairs 0 -> 2 and 1 -> 3 leave node 0 over one NIC and enter node 1 over one.
  const ClusterTopology cluster = two_gpu_nodes(2, kNvlink, kOneLeaf);
  const PhaseTimeline timeline = run(cluster, 4, {{{0, 2, kGiB}, {1, 3, kGiB}, {2, 0, kGiB}, {3, 1, kGiB}}});
  CHECK(timeline.seconds() == near(cluster.route(0, 2).latency_seconds + 2 * kBytes / kWidth));
}
