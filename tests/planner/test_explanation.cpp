// What explain() says of small schedules, worked by hand, and what must hold of every strategy.
#include "planner/search/explanation/explanation.hpp"

#include <catch2/catch.hpp>
#include <numeric>

#include "planner/inputs/model_shape.hpp"
#include "planner/ir/work.hpp"
#include "planner/search/compare.hpp"
#include "tests/conformance/problems.hpp"
#include "tests/planner/hand_made.hpp"
#include "tests/sim/exchange_schedule.hpp"

using namespace hsap;
using namespace hsap::test;

namespace {

constexpr RankId kFirst = 0, kSecond = 1;
const std::vector<Role> kKeys{Role::k, Role::v};

/// Forward of two_rank_ring(). Rank 0: exchange, attend. Rank 1: exchange, attend, attend after the exchange, merge.
Timeline ring_times(const std::vector<OpTime>& first, const std::vector<OpTime>& second) {
  Timeline timeline;
  timeline.forward.ranks = {first, second};
  const Schedule schedule = two_rank_ring();
  for (const RankProgram& program : schedule.ranks) timeline.backward.ranks.emplace_back(program.backward.size());
  return timeline;
}

/// Everything that a PhaseRun refers to.
struct RingRun {
  explicit RingRun(Timeline times) : timeline(std::move(times)) {}
  Schedule schedule = two_rank_ring();
  ClusterTopology cluster = bare_switch(2);
  KernelTimes kernels{cluster};
  Timeline timeline;
  PhaseRun run{schedule, Phase::forward, timeline.forward, cluster, kernels};
};

double shares_of(const PathRun& run) {
  return std::accumulate(run.shares.begin(), run.shares.end(), 0.0,
                         [](double sum, const ActivityShare& share) { return sum + share.seconds; });
}

void require_unbroken(const std::vector<PathStep>& path, double seconds) {
  double end = 0;
  for (const PathStep& step : path) {
    REQUIRE(step.begin == Approx(end).margin(1e-12));
    REQUIRE(step.end > step.begin);
    end = step.end;
  }
  REQUIRE(end == Approx(seconds));
}

Problem problem_of(AttentionKind kind, const std::vector<Token>& offsets, int ranks, int per_node) {
  const AttentionShape shape{
      .kind = kind, .query_heads = 8, .kv_heads = 4, .qk_dim = 64, .v_dim = 64, .dtype = DType::bf16, .mask = {}, .decay = 0};
  return problem_on(shape, offsets, ranks, per_node);
}

}  // namespace

TEST_CASE("critical path: through the message when it comes last, through the attention when that ends last") {
  const RingRun late_message(ring_times({{0, 3}, {0, 1}}, {{0, 3}, {0, 2}, {3, 4}, {4, 5}}));
  const std::vector<PathStep> path = critical_path(late_message.run);
  REQUIRE(path.size() == 3);
  CHECK(path[0].kind == "exchange");
  CHECK(path[0].delivery == Delivery{kFirst, kSecond, kKeys});
  CHECK(path[0].rank == kSecond);
  CHECK(path[0].seconds() == 3);
  CHECK(path[1].kind == "attend");
  CHECK(path[1].op == 2);
  CHECK(path[2].kind == "merge");
  require_unbroken(path, 5);

  const RingRun late_attention(ring_times({{0, 1}, {0, 1}}, {{0, 1}, {0, 2}, {2, 4}, {4, 5}}));
  const std::vector<PathStep> computing = critical_path(late_attention.run);
  REQUIRE(computing.size() == 3);
  CHECK(computing[0].kind == "attend");
  CHECK(computing[0].op == 1);
  require_unbroken(computing, 5);
}

TEST_CASE("critical path: a message begins when its later end is posted, and the path goes on at that end") {
  // Rank 0 posts at 2, which nothing in the schedule explains; rank 1 has waited since 0.
  const RingRun late_sender(ring_times({{2, 3}, {0, 1}}, {{0, 3}, {0, 1}, {3, 4}, {4, 5}}));
  const std::vector<PathStep> path = critical_path(late_sender.run);
  REQUIRE(path.size() == 4);
  CHECK(path[0].kind.empty());
  CHECK(path[0].seconds() == 2);
  CHECK(path[1].delivery == Delivery{kFirst, kSecond, kKeys});
  CHECK(path[1].seconds() == 1);
  require_unbroken(path, 5);
}

TEST_CASE("critical path: runs keep the time of all steps, however few they are") {
  const RingRun ring(ring_times({{2, 3}, {0, 1}}, {{0, 3}, {0, 1}, {3, 4}, {4, 5}}));
  const std::vector<PathStep> path = critical_path(ring.run);
  CHECK(summarised(path, 10).size() == 4);
  for (std::size_t most = 1; most <= 4; ++most) {
    const std::vector<PathRun> runs = summarised(path, most);
    CHECK(runs.size() == most);
    CHECK(runs.front().begin == 0);
    CHECK(runs.back().end == 5);
    double seconds = 0;
    std::size_t steps = 0;
    for (const PathRun& run : runs) {
      CHECK(shares_of(run) == Approx(run.end - run.begin));
      seconds += shares_of(run);
      steps += run.steps;
    }
    CHECK(seconds == Approx(5));
    CHECK(steps == 4);
  }
  CHECK(summarised({}, 3).empty());
}

TEST_CASE("waits: what a rank computes nothing for, and when it is done") {
  const RingRun ring(ring_times({{0, 3}, {0, 1}}, {{0, 3}, {0, 2}, {3, 4}, {4, 5}}));
  CHECK(idle_seconds(ring.run) == std::vector<double>{4, 1});
  const RankWaits first = waits_of(ring.run, kFirst);
  CHECK(first.seconds == 4);
  REQUIRE(first.waits.size() == 2);
  CHECK(first.waits[0].delivery == Delivery{kSecond, kFirst, kKeys});
  CHECK(first.waits[0].seconds == 2);
  CHECK_FALSE(first.waits[1].delivery);
  CHECK(first.waits[1].seconds == 2);
  const RankWaits second = waits_of(ring.run, kSecond);
  REQUIRE(second.waits.size() == 1);
  CHECK(second.waits[0].delivery == Delivery{kFirst, kSecond, kKeys});
  CHECK(second.waits[0].seconds == 1);
}

TEST_CASE("causes: kernels, messages on their way and waiting are told apart on the busiest rank") {
  // Of 24 pairs rank 1 has 18, so it is the busiest. It computes in [0, 2] and [3, 5], of that [4, 5] merging.
  const RingRun ring(ring_times({{2.5, 3}, {0, 1}}, {{0, 3}, {0, 2}, {3, 4}, {4, 5}}));
  const TimeCauses causes = time_causes(ring.run, ring.schedule.mask, ring.kernels, {});
  CHECK(causes.busiest_rank == kSecond);
  CHECK(causes.seconds == 5);
  CHECK(causes.extra_work == Approx(0).margin(1e-18));
  CHECK(causes.imbalance == Approx((18.0 / 12 - 1) * causes.bound_seconds));
  CHECK(causes.kernel_fragments == Approx(3));  // the work itself takes nanoseconds
  CHECK(causes.other_kernels == 1);
  CHECK(causes.exposed_communication == Approx(0.5));
  CHECK(causes.waiting == 0.5);
  CHECK(causes.memory_cap == 0);
  CHECK(causes.sum() == Approx(causes.seconds - causes.bound_seconds));
}

TEST_CASE("causes: a message is in its latency first, on the links then") {
  // Both ends are posted at 2.5 and the latency is 5 us: one message of 10 us, one that ends within its latency.
  const RingRun on_links(ring_times({{2.5, 2.50001}, {0, 1}}, {{0, 2.50001}, {0, 2}, {3, 4}, {4, 5}}));
  const TimeCauses late = time_causes(on_links.run, on_links.schedule.mask, on_links.kernels, {});
  CHECK(late.latency == Approx(5e-6));
  CHECK(late.exposed_communication == Approx(5e-6));
  const RingRun short_one(ring_times({{2.5, 2.500003}, {0, 1}}, {{0, 2.500003}, {0, 2}, {3, 4}, {4, 5}}));
  const TimeCauses latent = time_causes(short_one.run, short_one.schedule.mask, short_one.kernels, {});
  CHECK(latent.latency == Approx(3e-6));
  CHECK(latent.exposed_communication == 0);
  CHECK(latent.sum() == Approx(latent.seconds - latent.bound_seconds));
}

TEST_CASE("causes: of a layer, linear work follows attention and may make another rank the busiest") {
  const RingRun ring(ring_times({{2.5, 3}, {0, 1}}, {{0, 3}, {0, 2}, {3, 4}, {4, 5}}));
  const TimeCauses equal = time_causes(ring.run, ring.schedule.mask, ring.kernels, {{1, 1}, {1, 1}});  // 4 tokens on each rank
  CHECK(equal.busiest_rank == kSecond);
  CHECK(equal.seconds == 9);
  CHECK(equal.bound_seconds == Approx(4));
  CHECK(equal.kernel_fragments == Approx(3));
  CHECK(equal.other_kernels == 1);
  CHECK(equal.waiting == Approx(0.5));
  CHECK(equal.sum() == Approx(equal.seconds - equal.bound_seconds));

  // Rank 0 computes in [0, 1] and its linear work in [1, 13], beside the exchange of keys that rank 1 waits for.
  const TimeCauses slow = time_causes(ring.run, ring.schedule.mask, ring.kernels, {{3, 1}, {3, 1}});
  CHECK(slow.busiest_rank == kFirst);
  CHECK(slow.seconds == 13);
  CHECK(slow.bound_seconds == Approx(8 / (1.0 / 3 + 1)));
  CHECK(slow.imbalance == Approx(12 - slow.bound_seconds));
  CHECK(slow.exposed_communication == 0);
  CHECK(slow.waiting == 0);
  CHECK(slow.sum() == Approx(slow.seconds - slow.bound_seconds));
}

TEST_CASE("causes: the memory cap's part of the imbalance is what the schedule without a cap does not have") {
  const RingRun ring(ring_times({{0, 1}, {0, 1}}, {{0, 1}, {0, 2}, {2, 4}, {4, 5}}));
  const TimeCauses all = time_causes(ring.run, ring.schedule.mask, ring.kernels, {});
  const TimeCauses same = time_causes(ring.run, ring.schedule.mask, ring.kernels, {}, &ring.schedule);
  CHECK(same.memory_cap == 0);
  CHECK(same.imbalance == all.imbalance);
  const Schedule balanced = two_rank_ulysses();  // other sizes, but no imbalance
  const TimeCauses capped = time_causes(ring.run, ring.schedule.mask, ring.kernels, {}, &balanced);
  CHECK(capped.memory_cap == Approx(all.imbalance));
  CHECK(capped.imbalance == Approx(0).margin(1e-18));
  CHECK(capped.sum() == Approx(all.sum()));
}

TEST_CASE("causes: pairs outside the batch's documents are extra work") {
  const RingRun ring(ring_times({{0, 1}, {0, 1}}, {{0, 1}, {0, 2}, {2, 4}, {4, 5}}));
  const TimeCauses right = time_causes(ring.run, ring.schedule.mask, ring.kernels, {});
  const TimeCauses wrong = time_causes(ring.run, DocumentMask({0, 2, 5, 8}), ring.kernels, {});
  CHECK(wrong.extra_work == Approx(right.bound_seconds * (24.0 - 15) / 24));
  CHECK(wrong.sum() == Approx(wrong.seconds - wrong.bound_seconds));
}

TEST_CASE("placement: who holds each document, in how many pieces") {
  const PlacementFacts facts = placement_facts(two_rank_ring(), DocumentMask({0, 2, 8}));
  REQUIRE(facts.documents.size() == 2);
  CHECK(facts.documents[0].document == 1);  // the longer one first
  CHECK(facts.documents[0].ranks == std::vector<RankId>{0, 1});
  CHECK(facts.documents[0].pieces == 2);
  CHECK(facts.documents[0].largest_share == 4);
  CHECK(facts.documents[0].largest_share_rank == 1);
  CHECK(facts.documents[1].ranks == std::vector<RankId>{0});
  CHECK(facts.documents_on_one_rank == 1);
  CHECK(facts.tokens_owned == std::vector<double>{4, 4});
  CHECK(facts.pairs_computed == std::vector<double>{6, 18});
  const Spread spread = spread_of(facts.pairs_computed);
  CHECK(spread.imbalance() == 1.5);
  CHECK(spread.most_rank == 1);
}

TEST_CASE("traffic: messages of a step are told by what they carry") {
  const Schedule ring = two_rank_ring();
  const ClusterTopology cluster = bare_switch(2);
  const PhaseTraffic forward = traffic_of(ring, Phase::forward, cluster);
  REQUIRE(forward.rounds.size() == 1);
  CHECK(forward.rounds[0].roles == kKeys);
  CHECK(forward.rounds[0].messages == 2);
  CHECK(forward.rounds[0].senders == 2);
  CHECK(forward.rounds[0].most_peers == 1);
  CHECK(forward.bytes == 2 * 2 * 4 * 4 * 2);  // ranks, k and v, tokens, width, bf16
  CHECK(traffic_of(ring, Phase::backward, cluster).rounds[0].roles == std::vector<Role>{Role::d_k, Role::d_v});

  const PhaseTraffic backward = traffic_of(two_rank_ulysses(), Phase::backward, cluster);
  REQUIRE(backward.rounds.size() == 2);
  CHECK(backward.rounds[0].roles == std::vector<Role>{Role::d_o});
  CHECK(backward.rounds[1].roles == std::vector<Role>{Role::d_q, Role::d_k, Role::d_v});
}

TEST_CASE("explanation: for every strategy the causes add up, the path is unbroken, memory and traffic are those of the plan") {
  const AttentionKind kind = GENERATE(AttentionKind::softmax, AttentionKind::linear);
  const int ranks = GENERATE(1, 2, 4, 8);
  const std::uint64_t seed = 71;
  CAPTURE(seed, ranks);
  const ClusterTopology cluster = bare_switch(static_cast<RankId>(ranks));
  const KernelTimes kernels(cluster);
  // Of attention alone, and of a layer: 20 million parameters, more on some ranks than on others.
  LinearWork work;
  if (GENERATE(false, true)) work = linear_work(2e7, DType::bf16, ranks, kernels);
  if (work.counted() && ranks > 2) work.forward[1] *= 3, work.backward[2] *= 5;
  for (const std::vector<Token>& offsets : {random_offsets(seed, 2000), offsets_of({1, 900, 3}), offsets_of({1})}) {
    const Problem problem = problem_of(kind, offsets, ranks, ranks);
    for (const Choice& choice : choices_for(problem)) {
      INFO(choice.describe());
      const Schedule schedule = choice.strategy->lower(problem, choice.degrees, choice.options);
      const LayerTimeline timeline = estimate_layer(schedule, work, cluster, kernels);
      const std::optional<Schedule> uncapped = without_token_cap(schedule, choice.options, problem);
      const Explanation explanation =
          explain(schedule, problem.mask, timeline, cluster, kernels, work, uncapped ? &*uncapped : nullptr);
      double bound = 0;
      for (const Phase phase : {Phase::forward, Phase::backward}) {
        const PhaseExplanation& facts = phase_of(explanation, phase);
        const TimeCauses& causes = facts.causes;
        REQUIRE(causes.seconds == layer_seconds(schedule, timeline, phase, work));
        REQUIRE(causes.seconds >= phase_of(timeline.attention, phase).seconds());
        REQUIRE(causes.sum() == Approx(causes.seconds - causes.bound_seconds).epsilon(1e-9));
        const double least = -1e-9 * causes.seconds;
        REQUIRE(causes.extra_work >= least);
        REQUIRE(causes.imbalance >= least);
        REQUIRE(causes.memory_cap >= 0);
        REQUIRE(causes.kernel_fragments >= least);
        REQUIRE(causes.other_kernels >= 0);
        REQUIRE(causes.exposed_communication >= least);
        REQUIRE(causes.latency >= least);
        REQUIRE(causes.waiting >= least);
        bound += causes.bound_seconds;

        require_unbroken(facts.critical_path, phase_of(timeline.attention, phase).seconds());
        for (const PathStep& step : facts.critical_path) REQUIRE_FALSE(step.kind.empty());
        double waited = 0;
        for (const Wait& wait : facts.most_waiting.waits) waited += wait.seconds;
        REQUIRE(waited == Approx(facts.most_waiting.seconds).margin(1e-6 * causes.seconds));
        REQUIRE(facts.most_waiting.seconds == Approx(facts.idle_seconds[facts.most_waiting.rank]).margin(1e-12));
        REQUIRE(facts.traffic.bytes_sent == bytes_sent_by_rank(schedule, phase));
      }
      REQUIRE(bound == Approx(lower_bounds(problem, work, kernels).front().seconds));
      double alive = 0;
      for (const MemoryTerm& term : explanation.memory.terms) alive += term.bytes;
      REQUIRE(alive == peak_memory(schedule).peak_bytes);
      const std::vector<double>& pairs = explanation.placement.pairs_computed;
      if (kind == AttentionKind::softmax)
        REQUIRE(std::accumulate(pairs.begin(), pairs.end(), 0.0) == Approx(static_cast<double>(problem.mask.pairs())));
    }
  }
}
