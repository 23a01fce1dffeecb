// How near the CPU attention kernels come to the core's fp32 peak. Per kernel set and per shape: GFLOP/s of the matrix products
// executed (padding and masked pairs inside tiles included) and useful (pairs inside the mask, as in planner/ir/work.hpp), and
// the executed rate over the measured peak. One thread; rates are per second of CPU time.
#include <benchmark/benchmark.h>

#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "backend/cpu/kernel_set.hpp"
#include "backend/visible_rows.hpp"
#include "tests/bench/fma_peak.hpp"

namespace hsap {
namespace {

constexpr double kGiga = 1e9;

struct Shape {
  std::string name;
  DocumentMask mask;
  int query_heads;
  int kv_heads;
  int width;
};

Shape causal(Token tokens, int query_heads, int kv_heads, int width) {
  return {"causal " + std::to_string(tokens), DocumentMask({0, tokens}), query_heads, kv_heads, width};
}

Shape documents(Token tokens, int query_heads, int kv_heads, int width) {
  std::mt19937 random(1);
  std::vector<Token> offsets{0};
  while (offsets.back() < tokens) offsets.push_back(std::min<Token>(tokens, offsets.back() + 50 + random() % 1450));
  return {"documents 50-1500 in " + std::to_string(tokens), DocumentMask(offsets), query_heads, kv_heads, width};
}

/// One buffer with the rows of the whole batch.
class Rows {
 public:
  Rows(Token tokens, int heads, int width)
      : values_(static_cast<std::size_t>(tokens * heads * width)), rows_(static_cast<std::size_t>(tokens)) {
    std::mt19937 random(static_cast<unsigned>(heads * width));
    std::normal_distribution<float> normal;
    for (float& value : values_) value = normal(random);
    std::iota(rows_.begin(), rows_.end(), Index{0});
    view_ = {values_.data(), rows_.data(), tokens, Index{heads} * width, heads, width};
  }
  const SliceView& view() const { return view_; }

 private:
  std::vector<float> values_;
  std::vector<Index> rows_;
  SliceView view_;
};

struct Layer {
  explicit Layer(const Shape& shape)
      : q(shape.mask.tokens(), shape.query_heads, shape.width),
        k(shape.mask.tokens(), shape.kv_heads, shape.width),
        v(shape.mask.tokens(), shape.kv_heads, shape.width),
        o(shape.mask.tokens(), shape.query_heads, shape.width),
        lse(shape.mask.tokens(), shape.query_heads, 1),
        d_o(shape.mask.tokens(), shape.query_heads, shape.width),
        d_q(shape.mask.tokens(), shape.query_heads, shape.width),
        d_k(shape.mask.tokens(), shape.kv_heads, shape.width),
        d_v(shape.mask.tokens(), shape.kv_heads, shape.width) {
    const TokenSet all{{0, shape.mask.tokens()}};
    visible = visible_rows(shape.mask, all, all);
    groups.queries_per_kv = shape.query_heads / shape.kv_heads;
  }
  AttendCall forward() const {
    return {q.view(), k.view(), v.view(), o.view(), lse.view(), visible.main.data(), visible.sinks_or_null(), groups, {}};
  }
  AttendBackwardCall backward() const {
    return {q.view(),   k.view(),   v.view(),   o.view(),   lse.view(),          {},
            d_o.view(), d_q.view(), d_k.view(), d_v.view(), visible.main.data(), visible.sinks_or_null(),
            groups,     {}};
  }
  Rows q, k, v, o, lse, d_o, d_q, d_k, d_v;
  VisibleRows visible;
  HeadGroups groups;
};

void report(benchmark::State& state, double executed, double useful, double peak) {
  const double iterations = static_cast<double>(state.iterations());
  state.counters["executed_GFLOPs"] = benchmark::Counter(executed * iterations / kGiga, benchmark::Counter::kIsRate);
  state.counters["useful_GFLOPs"] = benchmark::Counter(useful * iterations / kGiga, benchmark::Counter::kIsRate);
  state.counters["peak_GFLOPs"] = peak / kGiga;
  state.counters["executed_of_peak"] = benchmark::Counter(executed * iterations / peak, benchmark::Counter::kIsRate);
}

double pair_elements(const Shape& shape) { return static_cast<double>(shape.mask.pairs()) * shape.query_heads * shape.width; }

void forward(benchmark::State& state, const KernelSet& kernels, const Shape& shape, double peak) {
  const Layer layer(shape);
  const AttendCall call = layer.forward();
  double executed = 0;
  for (auto _ : state) executed = kernels.attend_softmax(call);
  report(state, executed, 4 * pair_elements(shape), peak);
}

void backward(benchmark::State& state, const KernelSet& kernels, const Shape& shape, double peak) {
  const Layer layer(shape);
  kernels.attend_softmax(layer.forward());
  const AttendBackwardCall call = layer.backward();
  double executed = 0;
  for (auto _ : state) executed = kernels.attend_backward_softmax(call);
  report(state, executed, 10 * pair_elements(shape), peak);
}

void register_all() {
  const std::vector<Shape> shapes{causal(4096, 1, 1, 64),    causal(4096, 1, 1, 128),    causal(4096, 8, 2, 128),
                                  documents(4096, 1, 1, 64), documents(4096, 1, 1, 128), documents(4096, 8, 2, 128)};
  for (const KernelSet* kernels : supported_kernel_sets()) {
    const double peak = fma_peak_flops_per_second(kernels->lanes);
    for (const Shape& shape : shapes) {
      const std::string name = "/" + shape.name + " heads " + std::to_string(shape.query_heads) + ":" +
                               std::to_string(shape.kv_heads) + " width " + std::to_string(shape.width);
      const auto add = [&](const char* phase, auto* run) {
        benchmark::RegisterBenchmark((std::string(kernels->name) + "/" + phase + name).c_str(), [=](benchmark::State& state) {
          run(state, *kernels, shape, peak);
        })->Unit(benchmark::kMillisecond);
      };
      add("forward", forward);
      add("backward", backward);
    }
  }
}

}  // namespace
}  // namespace hsap

int main(int argc, char** argv) {
  hsap::register_all();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
