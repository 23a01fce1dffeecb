// The work of a layer beside attention, by hand.
#include "planner/cost/linear_work.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "planner/cost/estimate.hpp"
#include "planner/ir/work.hpp"
#include "tests/planner/attention_rows.hpp"
#include "tests/planner/hand_made.hpp"
#include "tests/sim/exchange_schedule.hpp"

using namespace hsap;
using namespace hsap::test;
using Catch::Matchers::Contains;

TEST_CASE("linear work: 2 FLOP per parameter and token forward, 4 backward, at 0.8 of the peak, half of it in fp32") {
  const KernelTimes kernels(h100());
  const double parameters = 218'103'808;  // of a layer of Llama 3 8B
  const double forward = kernels.linear_seconds_per_token(0, parameters, DType::bf16, Phase::forward);
  CHECK(forward == Approx(2 * parameters / (0.8 * h100().device(0).peak_flops_per_second)));
  CHECK(kernels.linear_seconds_per_token(0, parameters, DType::bf16, Phase::backward) == Approx(2 * forward));
  CHECK(kernels.linear_seconds_per_token(0, parameters, DType::fp32, Phase::forward) == Approx(2 * forward));
  CHECK(KernelTimes(a100()).linear_seconds_per_token(0, parameters, DType::bf16, Phase::forward) > 3 * forward);
  CHECK_THAT(kernels.provenance(), Contains("linear work assumed at 80 % of peak"));
}

TEST_CASE("linear work: a layer ends when the last rank has attended and worked on its tokens") {
  const Schedule schedule = two_rank_ring();  // 4 tokens on each rank
  LayerTimeline timeline;
  timeline.attention.forward.ranks = {{{0, 3}, {0, 1}}, {{0, 3}, {0, 2}, {3, 4}, {4, 5}}};
  for (const RankProgram& program : schedule.ranks) timeline.attention.backward.ranks.emplace_back(program.backward.size());
  CHECK(timeline.attention.forward.seconds(0) == 3);
  CHECK(timeline.attention.forward.seconds(1) == 5);
  CHECK(layer_seconds(schedule, timeline, Phase::forward, {}) == 5);
  CHECK(layer_seconds(schedule, timeline, Phase::forward, {{0.25, 0.25}, {1, 1}}) == 6);
  CHECK(layer_seconds(schedule, timeline, Phase::forward, {{3, 1}, {1, 1}}) == 1 + 12);  // while its exchange lasts until 3
  const LinearWork barrier{{2, 1}, {1, 1}, true};
  CHECK(layer_seconds(schedule, timeline, Phase::forward, barrier) == 5 + 8);  // nobody begins linear work before 5
}

TEST_CASE("linear work: it begins when the rank has its output, beside what the rank still sends") {
  Schedule schedule = two_rank_ring();
  PhaseTimeline forward;
  for (const RankProgram& program : schedule.ranks) forward.ranks.emplace_back(program.forward.size(), OpTime{0, 1});
  PooledList<Op>& ops = schedule.ranks[0].forward;
  const auto sends =
      std::find_if(ops.begin(), ops.end(), [](const Op& op) { return std::holds_alternative<Exchange>(op.body); });
  REQUIRE(sends != ops.end());
  forward.ranks[0][sends->id].end = 7;
  CHECK(output_seconds(schedule, forward, 0) == 1);
  CHECK(layer_seconds(schedule, forward, Phase::forward, {{1, 1}, {1, 1}}) == 7);  // 1 + 4 tokens end before
  CHECK(layer_seconds(schedule, forward, Phase::forward, {{2, 1}, {1, 1}}) == 9);
  std::get<Exchange>(sends->body).recvs = {{1, {{schedule.ranks[0].boundary.o, 0, {}}}}};
  CHECK(output_seconds(schedule, forward, 0) == 7);
}

TEST_CASE("linear work: backward, each rank attends after its linear work, and the layer ends with the last attention") {
  const ClusterTopology cluster = bare_switch(2);
  const KernelTimes kernels(cluster);
  const Schedule schedule = two_rank_ring();  // 4 tokens on each rank; gradients of keys go back and forth
  const double attention = estimate(schedule, cluster, kernels).backward.seconds();
  const auto layer = [&](const LinearWork& work) {
    return layer_seconds(schedule, estimate_layer(schedule, work, cluster, kernels), Phase::backward, work);
  };
  CHECK(layer({}) == attention);
  CHECK(layer({{1, 1}, {2, 2}}) == Approx(4 * 2 + attention));  // together, later
  CHECK(layer({{1, 1}, {1, 3}}) <= 4 * 3 + attention);          // the other one's attention is under way or done
  CHECK(layer({{1, 1}, {1, 3}}) > 4 * 3);
  CHECK(layer({{1, 1}, {1, 3}, true}) == Approx(4 * 3 + attention));

  const LayerTimeline apart = estimate_layer(schedule, {{1, 1}, {1, 3}}, cluster, kernels);
  CHECK(apart.attention.backward.seconds() == attention);
  for (RankId rank = 0; rank < 2; ++rank) {
    double first = apart.backward_in_layer.seconds(rank);
    for (const OpTime& time : apart.backward_in_layer.ranks[rank]) first = std::min(first, time.begin);
    CHECK(first == Approx(rank == 0 ? 4 : 12));
  }
}

TEST_CASE("linear work: a token costs a placement as many pairs as its linear work takes the time of") {
  const KernelTimes kernels(h100());
  const AttentionShape shape = attention_of({1, 128}).shape;
  CHECK(pairs_per_token(shape, {}, kernels) == 0);
  double pair = 0;
  for (const Phase phase : {Phase::forward, Phase::backward})
    pair += 32 * flops_per_pair(shape, phase) / kernels.best_attention_flops_per_second(0, shape, phase);
  CHECK(pairs_per_token(shape, {{3 * pair}, {4 * pair}}, kernels) == Approx(7));
  // Llama 3 8B on H100: the attention of a token among some 17,000 earlier ones takes as long as its linear work.
  CHECK(pairs_per_token(shape, linear_work(218'103'808, DType::bf16, 1, kernels), kernels) == Approx(17'000).epsilon(0.1));
}
