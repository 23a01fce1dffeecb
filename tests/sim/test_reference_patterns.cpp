// Ring and all-to-all on a bare switch of 50 GB/s ports and 5 us, 64 MiB per rank: the exact answers of a fluid network.
#include <catch2/catch.hpp>

#include "sim/simulate.hpp"
#include "tests/sim/exchange_schedule.hpp"

using namespace hsap;
using namespace hsap::test;

namespace {

constexpr double kBandwidth = 50e9;
constexpr double kLatency = 5e-6;
constexpr Token kBytes = 64 * kMiB;

double simulated_seconds(RankId ranks, const std::vector<Round>& rounds) {
  const ClusterTopology cluster = bare_switch(ranks);
  return simulate(exchange_schedule(ranks, rounds), cluster, KernelTimes(cluster)).forward.seconds();
}

double ring_seconds(RankId ranks) { return (ranks - 1) * (static_cast<double>(kBytes) / kBandwidth + kLatency); }
double all_to_all_seconds(RankId ranks) {
  return static_cast<double>(ranks - 1) / ranks * static_cast<double>(kBytes) / kBandwidth + kLatency;
}

}  // namespace

TEST_CASE("ring of 8 and 64 ranks: every step takes latency + bytes / bandwidth") {
  CHECK(simulated_seconds(8, ring(8, kBytes)) == Approx(9.430241e-3).epsilon(1e-6));
  CHECK(simulated_seconds(64, ring(64, kBytes)) == Approx(84.872169e-3).epsilon(1e-6));
  CHECK(ring_seconds(64) == Approx(84.872169e-3).epsilon(1e-6));
}

TEST_CASE("ring of 256 ranks: 65,280 messages, exact") {
  CHECK(simulated_seconds(256, ring(256, kBytes)) == Approx(343.530206e-3).epsilon(1e-6));
  CHECK(ring_seconds(256) == Approx(343.530206e-3).epsilon(1e-6));
}

TEST_CASE("all-to-all of 8 and 64 ranks: every port is full until the end") {
  CHECK(simulated_seconds(8, all_to_all(8, kBytes / 8)) == Approx(1.179405e-3).epsilon(1e-6));
  CHECK(simulated_seconds(64, all_to_all(64, kBytes / 64)) == Approx(1.326206e-3).epsilon(1e-6));
  CHECK(all_to_all_seconds(64) == Approx(1.326206e-3).epsilon(1e-6));
}

TEST_CASE("all-to-all of 256 ranks: 65,280 messages at once, exact (about 15 s)") {
  CHECK(simulated_seconds(256, all_to_all(256, kBytes / 256)) == Approx(1.341934e-3).epsilon(1e-6));
  CHECK(all_to_all_seconds(256) == Approx(1.341934e-3).epsilon(1e-6));
}
