// The rules of time: order of ops, messages that wait for both ends, errors, and the child process.
#include <unistd.h>
#include <catch2/catch.hpp>
#include <csignal>

#include <random>
#include <stdexcept>

#include "planner/ir/errors.hpp"
#include "sim/child_process.hpp"
#include "sim/simulate.hpp"
#include "tests/sim/exchange_schedule.hpp"

using namespace hsap;
using namespace hsap::test;
using Catch::Matchers::Contains;

namespace {

constexpr double kStep = 5e-6 + 64.0 * static_cast<double>(kMiB) / 50e9;

Op copy_op(Schedule& schedule, Token tokens, OpList after = {}) {
  const Slice all{0, rows(schedule, tokens), {0, 1}};
  return {0, kComputeStream, 0, std::move(after), Copy{{{all, all}}}};
}

void append(PooledList<Op>& ops, Op op) {
  op.id = static_cast<OpIndex>(ops.size());
  ops.push_back(std::move(op));
}

Timeline run(const Schedule& schedule) {
  const ClusterTopology cluster = bare_switch(static_cast<RankId>(schedule.ranks.size()));
  return simulate(schedule, cluster, KernelTimes(cluster));
}

}  // namespace

TEST_CASE("kernels of one stream follow each other and take KernelTimes::seconds") {
  Schedule schedule = exchange_schedule(1, {});
  append(schedule.ranks[0].forward, copy_op(schedule, 1 << 20));
  append(schedule.ranks[0].forward, copy_op(schedule, 1 << 26));
  const ClusterTopology cluster = bare_switch(1);
  const KernelTimes kernels(cluster);
  const std::vector<OpTime> times = simulate(schedule, cluster, kernels).forward.ranks[0];
  const double first = kernels.seconds(schedule, 0, schedule.ranks[0].forward[0]);
  const double second = kernels.seconds(schedule, 0, schedule.ranks[0].forward[1]);
  CHECK(first > 0);
  CHECK(second > first);
  CHECK(times[0].begin == 0);
  CHECK(times[0].end == Approx(first).epsilon(1e-9));
  CHECK(times[1].begin == times[0].end);
  CHECK(times[1].end == Approx(first + second).epsilon(1e-9));
}

TEST_CASE("an Exchange on its own stream hides under a kernel, one that comes after it does not") {
  Schedule schedule = exchange_schedule(2, {{{0, 1, 64 * kMiB}}});
  append(schedule.ranks[0].forward, copy_op(schedule, 1 << 28));
  const double beside = run(schedule).forward.ranks[0][1].end;
  schedule.ranks[0].forward[1].after = {0};
  const double behind = run(schedule).forward.ranks[0][1].end;
  CHECK(behind == Approx(beside + kStep).epsilon(1e-9));
}

TEST_CASE("a message starts when the later of its two ranks has posted it") {
  Schedule schedule = exchange_schedule(2, {});
  const Slice part{0, rows(schedule, 32 * kMiB), {0, 1}};
  append(schedule.ranks[0].forward, {0, kCommunicationStream, 0, {}, Exchange{{{1, {part}}}, {}}});
  append(schedule.ranks[1].forward, copy_op(schedule, 1 << 28));
  append(schedule.ranks[1].forward, {0, kCommunicationStream, 0, {0}, Exchange{{}, {{0, {part}}}}});
  const Timeline timeline = run(schedule);
  const double late = timeline.forward.ranks[1][0].end;
  CHECK(timeline.forward.ranks[0][0].begin == 0);
  CHECK(timeline.forward.ranks[1][1].begin == late);
  CHECK(timeline.forward.ranks[0][0].end == Approx(late + kStep).epsilon(1e-9));
}

TEST_CASE("messages of a pair of ranks are matched in order") {
  // 64 MiB, then 2 bytes: had the small one overtaken, sizes would not match.
  Schedule schedule = exchange_schedule(2, {{{0, 1, 64 * kMiB}}, {{0, 1, 2}}});
  CHECK(run(schedule).forward.seconds() == Approx(kStep + 5e-6 + 2 / 50e9).epsilon(1e-9));
}

TEST_CASE("the backward phase starts its own clock") {
  Schedule schedule = exchange_schedule(2, {{{0, 1, 64 * kMiB}}});
  schedule.ranks[0].backward = schedule.ranks[0].forward;
  schedule.ranks[1].backward = schedule.ranks[1].forward;
  const Timeline timeline = run(schedule);
  CHECK(timeline.forward.seconds() == Approx(kStep).epsilon(1e-9));
  CHECK(timeline.backward.seconds() == timeline.forward.seconds());
}

TEST_CASE("one phase alone takes what it takes beside the other") {
  Schedule schedule = exchange_schedule(2, {{{0, 1, 64 * kMiB}}});
  schedule.ranks[0].backward = {schedule.ranks[0].forward[0]};
  schedule.ranks[1].backward = {schedule.ranks[1].forward[0]};
  append(schedule.ranks[1].backward, copy_op(schedule, 1 << 26, {0}));
  const ClusterTopology cluster = bare_switch(2);
  const KernelTimes kernels(cluster);
  const Timeline both = run(schedule);
  CHECK(simulate(schedule, Phase::forward, cluster, kernels).seconds() == both.forward.seconds());
  CHECK(simulate(schedule, Phase::backward, cluster, kernels).seconds() == both.backward.seconds());
  CHECK(both.backward.seconds() > both.forward.seconds());
}

TEST_CASE("an empty schedule takes no time") {
  const Timeline timeline = run(exchange_schedule(2, {}));
  CHECK(timeline.forward.ranks.size() == 2);
  CHECK(timeline.forward.seconds() == 0);
  CHECK(timeline.backward.seconds() == 0);
}

TEST_CASE("simulating again gives identical times") {
  std::vector<Round> rounds = ring(6, 8 * kMiB);
  rounds.push_back({{0, 1, kMiB}, {0, 2, 3 * kMiB}, {4, 2, 7 * kMiB}, {5, 3, 2 * kMiB}, {1, 0, 5 * kMiB}});
  const Schedule schedule = exchange_schedule(6, rounds);
  const Timeline first = run(schedule);
  for (int i = 0; i < 3; ++i) {
    const Timeline again = run(schedule);
    for (RankId rank = 0; rank < 6; ++rank)
      for (std::size_t op = 0; op < first.forward.ranks[rank].size(); ++op) {
        CHECK(again.forward.ranks[rank][op].begin == first.forward.ranks[rank][op].begin);
        CHECK(again.forward.ranks[rank][op].end == first.forward.ranks[rank][op].end);
      }
  }
}

TEST_CASE(
    "random exchanges: every port carries its bytes no faster than its bandwidth, and the busiest is not slower than all in "
    "turn") {
  const unsigned seed = GENERATE(1U, 2U, 3U);
  CAPTURE(seed);
  std::mt19937 random(seed);
  constexpr RankId kRanks = 5;
  std::vector<Round> rounds(3);
  std::vector<double> sent(kRanks, 0);
  double total = 0;
  for (Round& round : rounds)
    for (RankId from = 0; from < kRanks; ++from)
      for (RankId to = 0; to < kRanks; ++to) {
        if (from == to || random() % 2 == 0) continue;
        const Token bytes = 2 * (1 + static_cast<Token>(random() % (4 * kMiB)));
        round.push_back({from, to, bytes});
        sent[from] += static_cast<double>(bytes);
        total += static_cast<double>(bytes) / 50e9 + 5e-6;
      }
  const double seconds = run(exchange_schedule(kRanks, rounds)).forward.seconds();
  for (const double bytes : sent) CHECK(seconds >= bytes / 50e9);
  CHECK(seconds <= total);
}

TEST_CASE("a send that nobody receives is refused with its rank, op and peer") {
  Schedule schedule = exchange_schedule(3, {{{0, 1, kMiB}}, {{2, 1, kMiB}}});
  schedule.ranks[1].forward.pop_back();
  CHECK_THROWS_AS(run(schedule), InvalidInput);
  CHECK_THROWS_WITH(run(schedule), Contains("forward: 1 of 3 ops would wait for ever") &&
                                       Contains("rank 2 op 0 (exchange) sends to rank 1, which never receives it"));
}

TEST_CASE("a receive that nobody sends is refused, also in backward") {
  Schedule schedule = exchange_schedule(2, {{{0, 1, kMiB}}});
  schedule.ranks[1].backward = schedule.ranks[1].forward;
  CHECK_THROWS_WITH(run(schedule), Contains("backward: 1 of 1 ops would wait for ever") &&
                                       Contains("rank 1 op 0 (exchange) receives from rank 0, which never sends it"));
}

TEST_CASE("ranks that wait for each other in a circle are refused, naming the first ops that wait") {
  Schedule schedule = exchange_schedule(2, {{{0, 1, kMiB}}, {{1, 0, 2 * kMiB}}});
  PooledList<Op>& ops = schedule.ranks[1].forward;
  std::swap(ops[0].body, ops[1].body);  // rank 1 sends before it receives, rank 0 too, each on one stream
  CHECK_THROWS_WITH(run(schedule),
                    Contains("4 of 4 ops would wait for ever") &&
                        Contains("rank 0 op 0 (exchange) waits for rank 1 op 1 (exchange), which waits itself") &&
                        Contains("rank 1 op 0 (exchange) waits for rank 0 op 1"));
}

TEST_CASE("ends that differ in bytes are refused with both numbers") {
  Schedule schedule = exchange_schedule(2, {{{0, 1, 64}}});
  std::get<Exchange>(schedule.ranks[1].forward[0].body).recvs[0].parts[0].tokens = rows(schedule, 40);
  CHECK_THROWS_WITH(run(schedule), Contains("rank 0 op 0 sends 64 bytes to rank 1, whose op 0 expects 80"));
}

TEST_CASE("more ranks than GPUs, unknown peers and forward references are refused") {
  const ClusterTopology cluster = bare_switch(2);
  CHECK_THROWS_WITH(simulate(exchange_schedule(3, {}), cluster, KernelTimes(cluster)),
                    Contains("3 ranks") && Contains("2 GPUs"));
  Schedule schedule = exchange_schedule(2, {{{0, 1, 64}}});
  std::get<Exchange>(schedule.ranks[0].forward[0].body).sends[0].peer = 7;
  CHECK_THROWS_WITH(run(schedule), Contains("rank 0 op 0 sends to rank 7, expected 0 to 1"));
  schedule = exchange_schedule(2, {{{0, 1, 64}}});
  schedule.ranks[0].forward[0].after = {0};
  CHECK_THROWS_WITH(run(schedule), Contains("rank 0 op 0 comes after op 0, expected an earlier op"));
}

TEST_CASE("child process: results, errors and deaths come back") {
  CHECK(ChildProcess([] { return std::vector<double>{1, 2.5}; }).result() == std::vector<double>{1, 2.5});
  CHECK(ChildProcess([] { return std::vector<double>(1'000'000, 3.0); }).result().size() ==
        1'000'000);  // more than a pipe holds
  ChildProcess failing([]() -> std::vector<double> { throw std::runtime_error("no luck"); });
  CHECK_THROWS_WITH(failing.result(), Contains("no luck"));
  ChildProcess killed([]() -> std::vector<double> {
    raise(SIGKILL);
    return {};
  });
  CHECK_THROWS_AS(killed.result(), BackendFailure);
  ChildProcess leaving([]() -> std::vector<double> { _exit(7); });
  CHECK_THROWS_WITH(leaving.result(), Contains("status 7"));
  const ChildProcess nobody_waits([]() -> std::vector<double> {
    pause();
    return {};
  });
}
