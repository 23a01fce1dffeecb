// Lower bounds: work of two kinds spread over ranks of different speeds, against an allocation that reaches it.
#include "planner/search/lower_bound.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <random>

#include "planner/ir/work.hpp"
#include "planner/search/compare.hpp"
#include "tests/sim/exchange_schedule.hpp"

using namespace hsap;
using namespace hsap::test;

namespace {

const AttentionShape kShape{.kind = AttentionKind::softmax,
                            .query_heads = 8,
                            .kv_heads = 4,
                            .qk_dim = 64,
                            .v_dim = 64,
                            .dtype = DType::bf16,
                            .mask = {},
                            .decay = 0};

/// Tokens done in `seconds` when the ranks with the slowest linear work do `flops` of attention, all of `rate`, first.
double tokens_done(double seconds, double flops, double rate, std::vector<double> token_seconds) {
  std::sort(token_seconds.rbegin(), token_seconds.rend());
  double done = 0;
  for (const double slowness : token_seconds) {
    const double attending = std::min(seconds, flops / rate);
    flops -= attending * rate;
    done += (seconds - attending) / slowness;
  }
  return flops > 1e-6 * rate * seconds ? -1 : done;
}

}  // namespace

TEST_CASE("lower bound: on equal ranks, the sums of both kinds of work over the sums of their rates") {
  const KernelTimes kernels(bare_switch(4));
  const double rate = kernels.best_attention_flops_per_second(0, kShape, Phase::forward);
  const LinearWork work = linear_work(1e8, DType::bf16, 4, kernels);
  CHECK(evenly_spread_seconds(8 * rate, 1000, kShape, 4, Phase::forward, {}, kernels) == Approx(2));
  CHECK(evenly_spread_seconds(8 * rate, 1000, kShape, 4, Phase::forward, work, kernels) ==
        Approx(2 + 250 * work.forward.front()));
  CHECK(evenly_spread_seconds(0, 1000, kShape, 4, Phase::backward, work, kernels) == Approx(250 * work.backward.front()));

  const Problem problem = make_problem(kShape, {0, 700, 1000}, bare_switch(4));
  const std::vector<LowerBound> bounds = lower_bounds(problem, work, kernels);
  REQUIRE(bounds.size() == 1);
  CHECK(bounds.front().name == "compute");
  double expected = 250 * (work.forward.front() + work.backward.front());
  for (const Phase phase : {Phase::forward, Phase::backward})
    expected += least_flops(kShape, problem.mask, phase) / (4 * kernels.best_attention_flops_per_second(0, kShape, phase));
  CHECK(bounds.front().seconds == Approx(expected));
}

TEST_CASE("lower bound: on ranks that differ it is what the best division of work reaches") {
  const unsigned seed = GENERATE(range(1U, 21U));
  CAPTURE(seed);
  std::mt19937 random(seed);
  const auto draw = [&](double most) { return most * (1 + static_cast<double>(random() % 1000)) / 1000; };
  const int ranks = 1 + static_cast<int>(random() % 6);
  const KernelTimes kernels(bare_switch(static_cast<RankId>(ranks)));
  const double rate = kernels.best_attention_flops_per_second(0, kShape, Phase::forward);
  LinearWork work;
  for (int r = 0; r < ranks; ++r) work.forward.push_back(draw(0.01));
  work.backward = work.forward;
  const double flops = draw(10) * rate;
  const Token tokens = 1 + static_cast<Token>(random() % 2000);
  const double bound = evenly_spread_seconds(flops, tokens, kShape, ranks, Phase::forward, work, kernels);
  CHECK(tokens_done(bound * 1.0001, flops, rate, work.forward) >= static_cast<double>(tokens));
  CHECK(tokens_done(bound * 0.9999, flops, rate, work.forward) < static_cast<double>(tokens));
}
