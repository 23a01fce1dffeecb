// ulysses: contiguous shards; an all-to-all gives every rank all tokens for its share of the heads (head_exchange.hpp), so
// attention is local and perfectly balanced. The degree is bounded by the heads; the volume does not depend on the documents.
#include "planner/placement/placement.hpp"
#include "planner/strategies/degree_checks.hpp"
#include "planner/strategies/head_exchange.hpp"

namespace hsap {

namespace {

class Ulysses : public Strategy {
 public:
  std::string name() const override { return "ulysses"; }
  std::string summary() const override { return "all-to-all from tokens to heads and back"; }
  bool serves(AttentionKind) const override { return true; }

  std::vector<Degrees> degrees(const Problem& problem) const override {
    if (refuse_head_degree(problem, problem.ranks)) return {};
    return {{problem.ranks, 1}};
  }

 private:
  Schedule compile(const Problem& problem, const Degrees& degrees, const StrategyOptions&) const override {
    ProgramBuilder builder(name(), degrees, problem, place_contiguous(problem.mask, problem.ranks));
    with_head_exchange(builder, degrees, [](ProgramBuilder& b, const std::vector<std::vector<View>>& views) {
      for (const std::vector<View>& group : views)
        for (const View& view : group) attend_locally(b, view);
    });
    return builder.take();
  }
};

}  // namespace

const Strategy& ulysses_strategy() {
  static const Ulysses strategy;
  return strategy;
}

}  // namespace hsap
