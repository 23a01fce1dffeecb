// How long the hsap schedule takes: lowered (placement, exchange, programs of all ranks) and verified, on 8 to 4,096 ranks.
#include <benchmark/benchmark.h>
#include <malloc.h>

#include <chrono>
#include <random>

#include "planner/ir/verify.hpp"
#include "planner/placement/layer_costs.hpp"
#include "planner/strategies/strategy.hpp"

namespace hsap {
namespace {

/// Documents of log-uniform length, 64 to 131,072 tokens, seed 1: about 200 of them in a million tokens, most tokens in long
/// ones.
std::vector<Token> long_tailed_offsets(Token tokens) {
  std::mt19937_64 random(1);
  std::vector<Token> offsets{0};
  while (offsets.back() < tokens) {
    const Token scale = Token{64} << random() % 11;
    offsets.push_back(
        std::min(tokens, offsets.back() + scale + static_cast<Token>(random() % static_cast<std::uint64_t>(scale))));
  }
  return offsets;
}

Problem problem_of(Token tokens, int ranks) {
  Problem problem;
  problem.shape = {.kind = AttentionKind::softmax,
                   .query_heads = 32,
                   .kv_heads = 8,
                   .qk_dim = 128,
                   .v_dim = 128,
                   .dtype = DType::bf16,
                   .mask = {}};
  problem.mask = DocumentMask(long_tailed_offsets(tokens));
  problem.ranks = ranks;
  for (int rank = 0; rank < ranks; ++rank) problem.node_of_rank.push_back(rank / 8);
  problem.pairs_per_token = kLlama3Layer.pairs_per_token();
  problem.pairs_per_entering_key = kLlama3Layer.pairs_per_entering_key();
  return problem;
}

/// Arguments: intra degree, tokens, ranks. Freeing the schedule is not timed: a trainer does that after the step.
void lower_hsap(benchmark::State& state) {
  const int ranks = static_cast<int>(state.range(2));
  const Problem problem = problem_of(state.range(1), ranks);
  const Degrees degrees{static_cast<int>(state.range(0)), ranks / static_cast<int>(state.range(0))};
  for (auto _ : state) {
    const auto start = std::chrono::steady_clock::now();
    const Schedule schedule = find_strategy("hsap").lower(problem, degrees);
    state.SetIterationTime(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
}

void verify_hsap(benchmark::State& state) {
  const int ranks = static_cast<int>(state.range(2));
  const Problem problem = problem_of(state.range(1), ranks);
  const Degrees degrees{static_cast<int>(state.range(0)), ranks / static_cast<int>(state.range(0))};
  const Schedule schedule = find_strategy("hsap").lower(problem, degrees);
  for (auto _ : state) verify(schedule, problem.mask);
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"intra", "tokens", "ranks"})->Unit(benchmark::kMillisecond);
  for (const int intra : {1, 8}) benchmark->Args({intra, 1 << 20, 128})->Args({intra, 1 << 20, 512});
}

/// The sizes for which planning time has targets.
void planning_sizes(benchmark::internal::Benchmark* benchmark) {
  sizes(benchmark);
  benchmark->Args({1, 1 << 20, 8})->Args({1, 1 << 20, 32})->Args({1, 1 << 22, 512})->Args({1, 1 << 25, 4096});
}

BENCHMARK(lower_hsap)->Apply(planning_sizes)->UseManualTime();
BENCHMARK(verify_hsap)->Apply(sizes);

}  // namespace
}  // namespace hsap

/// Who plans before every step keeps its heap. By default glibc gives it back after each schedule that is freed, and the next
/// one spends most of its time on page faults.
int main(int argc, char** argv) {
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
