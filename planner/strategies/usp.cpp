// usp: Ulysses inside groups of U consecutive ranks, a zigzag ring over the R groups (Fang and Zhao 2024, arXiv 2405.07719).
// After the all-to-all a KV block has U times the tokens and 1/U of the heads, so a hop costs what it costs in the flat ring,
// and there are R-1 instead of P-1. 1 x P is zigzag, P x 1 is ulysses.
#include <utility>

#include "planner/placement/placement.hpp"
#include "planner/strategies/degree_checks.hpp"
#include "planner/strategies/head_exchange.hpp"
#include "planner/strategies/ring_strategy.hpp"

namespace hsap {

namespace {

class Usp : public Strategy {
 public:
  std::string name() const override { return "usp"; }
  std::string summary() const override { return "ulysses inside groups, zigzag ring between them"; }
  bool serves(AttentionKind kind) const override { return kind == AttentionKind::softmax; }

  std::vector<Degrees> degrees(const Problem& problem) const override { return head_parallel_degrees_of(problem); }
  std::vector<std::string> options() const override { return {"dkv-dtype", "kv"}; }

 private:
  Schedule compile(const Problem& problem, const Degrees& degrees, const StrategyOptions& options) const override {
    std::vector<TokenSet> owned;
    for (const TokenSet& group : place_zigzag(problem.mask, degrees.inter))
      for (TokenSet& tokens : split_rows(group, degrees.intra)) owned.push_back(std::move(tokens));
    ProgramBuilder builder(name(), degrees, problem, owned);
    with_head_exchange(builder, consecutive_groups(degrees),
                       [&](ProgramBuilder& b, const std::vector<std::vector<View>>& views) {
                         for (std::size_t member = 0; member < views.front().size(); ++member) {
                           std::vector<RingPlace> ring;
                           for (const std::vector<View>& group : views) ring.push_back(place_by_halves(b, group[member]));
                           ring_pass(b, std::move(ring), ring_rules(options));
                         }
                       });
    return builder.take();
  }
};

}  // namespace

const Strategy& usp_strategy() {
  static const Usp strategy;
  return strategy;
}

}  // namespace hsap
