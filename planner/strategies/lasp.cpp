// lasp: linear attention on contiguous shards, the state handed from rank to rank and reset at document starts
// (state_chain.hpp). As published the chain crosses every boundary; here it is cut where no document straddles, since the state
// is zero there. The published code has as many kv heads as heads; with GQA the state is per kv head, a factor of the group
// size less.
#include "planner/placement/placement.hpp"
#include "planner/strategies/degree_checks.hpp"
#include "planner/strategies/state_chain.hpp"

namespace hsap {

namespace {

class Lasp : public Strategy {
 public:
  std::string name() const override { return "lasp"; }
  std::string summary() const override { return "linear attention, states handed along a chain"; }
  bool serves(AttentionKind kind) const override { return kind == AttentionKind::linear; }
  bool published_ignores_documents() const override { return true; }
  std::vector<Degrees> degrees(const Problem& problem) const override { return {{1, problem.ranks}}; }

 private:
  Schedule compile(const Problem& problem, const Degrees& degrees, const StrategyOptions&) const override {
    ProgramBuilder builder(name(), degrees, problem, place_contiguous(problem.mask, problem.ranks));
    state_chain(builder, boundary_views(builder));
    return builder.take();
  }
};

}  // namespace

const Strategy& lasp_strategy() {
  static const Lasp strategy;
  return strategy;
}

}  // namespace hsap
