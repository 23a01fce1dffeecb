// double-ring: LoongTrain's 2D attention (Gu et al. 2024, arXiv 2406.18485): Ulysses inside groups of U consecutive ranks
// (head-first placement), between the groups a zigzag ring of rings (double_ring_pass.hpp) whose inner rings lie inside a node.
// The published code has no cu_seqlens; here each document is cut as in zigzag.
#include <utility>

#include "planner/ir/errors.hpp"
#include "planner/strategies/double_ring_pass.hpp"
#include "planner/strategies/head_parallel_ring.hpp"

namespace hsap {

namespace {

class DoubleRing : public HeadParallelRing {
 public:
  DoubleRing() : HeadParallelRing("double-ring", "ulysses inside groups, zigzag rings inside a ring between them") {}
  bool published_ignores_documents() const override { return true; }
  std::vector<std::string> options() const override { return {"window", "dkv-dtype"}; }

  std::vector<StrategyOptions> variants(const Problem& problem, const Degrees& degrees) const override {
    const int published = published_window(problem, degrees);
    std::vector<StrategyOptions> result{{.window = published}};
    for (const int window : windows(degrees))
      if (window > 1 && window != published) result.push_back({.window = window});
    return result;
  }

 private:
  void run(ProgramBuilder& builder, std::vector<RingPlace> places, const Problem& problem, const Degrees& degrees,
           const StrategyOptions& options) const override {
    const int window = options.window > 0 ? options.window : published_window(problem, degrees);
    if (degrees.inter % window != 0) refuse_window(degrees, window);
    double_ring_pass(builder, std::move(places),
                     {.window = static_cast<std::size_t>(window),
                      .first_gradient = options.d_kv.value_or(DType::fp32),
                      .later_gradient = options.d_kv.value_or(problem.shape.dtype)});
  }

  /// The groups of a node, where nodes hold equally many whole groups; else one window of all.
  static int published_window(const Problem& problem, const Degrees& degrees) {
    const int in_node = problem.uniform_ranks_per_node().value_or(problem.ranks) / degrees.intra;
    return in_node >= 1 && degrees.inter % in_node == 0 ? in_node : degrees.inter;
  }

  static std::vector<int> windows(const Degrees& degrees) {
    std::vector<int> divisors;
    for (int window = 1; window <= degrees.inter; ++window)
      if (degrees.inter % window == 0) divisors.push_back(window);
    return divisors;
  }

  [[noreturn]] static void refuse_window(const Degrees& degrees, int window) {
    std::string works;
    for (const int divisor : windows(degrees)) works += (works.empty() ? "" : ", ") + std::to_string(divisor);
    throw InvalidInput("double-ring: a window of " + std::to_string(window) + " does not divide the " +
                       std::to_string(degrees.inter) + " places of the ring; windows that do: " + works);
  }
};

}  // namespace

const Strategy& double_ring_strategy() {
  static const DoubleRing strategy;
  return strategy;
}

}  // namespace hsap
