// How long the placement laws take on one core: documents of a long-tailed distribution, groups in nodes of eight.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <random>
#include <vector>

#include "planner/placement/placement.hpp"

namespace hsap {
namespace {

/// Documents of 128 to 1,048,576 tokens, seed 1. Twice the length is half as likely, so every octave holds the same share of
/// the tokens; about 700 documents in a million tokens.
DocumentMask long_tailed_batch(Token tokens) {
  std::mt19937_64 random(1);
  std::vector<Token> offsets{0};
  while (offsets.back() < tokens) {
    Token scale = 128;
    while (scale < 524'288 && random() % 2 == 0) scale *= 2;
    const Token length = scale + static_cast<Token>(random() % static_cast<std::uint64_t>(scale));
    offsets.push_back(std::min(tokens, offsets.back() + length));
  }
  return DocumentMask(std::move(offsets));
}

/// Pairs that a token of a Llama-3-8B layer is worth beside attention: 2 x 218.1e6 FLOP of linear work over 4 x 32 x 128 per
/// pair.
constexpr double kLlamaLayer = 26'623.5;

void cost_cut(benchmark::State& state, double token_cap, double pairs_per_token) {
  const DocumentMask mask = long_tailed_batch(state.range(0));
  const auto groups = static_cast<int>(state.range(1));
  const CostCutOptions options{
      .token_cap = token_cap, .pairs_per_token = pairs_per_token, .groups_of_node = equal_nodes(groups, 8)};
  for (auto _ : state) benchmark::DoNotOptimize(place_cost_cut(mask, groups, options));
  state.counters["documents"] = static_cast<double>(mask.documents());
}

void zigzag(benchmark::State& state) {
  const DocumentMask mask = long_tailed_batch(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(place_zigzag(mask, static_cast<int>(state.range(1))));
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"tokens", "groups"})->Unit(benchmark::kMillisecond);
  for (const int groups : {64, 128, 512}) benchmark->Args({1 << 20, groups});
  benchmark->Args({1 << 22, 512});
}

BENCHMARK_CAPTURE(cost_cut, no_cap, 1e6, kLlamaLayer)->Apply(sizes);
BENCHMARK_CAPTURE(cost_cut, cap_1_25, 1.25, kLlamaLayer)->Apply(sizes);
BENCHMARK_CAPTURE(cost_cut, cap_1_25_attention_only, 1.25, 0)->Apply(sizes);
BENCHMARK_CAPTURE(cost_cut, cap_1_attention_only, 1.0, 0)->Apply(sizes);
BENCHMARK(zigzag)->Apply(sizes);

}  // namespace
}  // namespace hsap

BENCHMARK_MAIN();
