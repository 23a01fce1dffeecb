// lasp2: linear attention on contiguous shards with one exchange of states per phase (LASP-2, arXiv 2502.07563;
// state_gather.hpp).
#include "planner/placement/placement.hpp"
#include "planner/strategies/state_gather.hpp"

namespace hsap {

namespace {

class Lasp2 : public Strategy {
 public:
  std::string name() const override { return "lasp2"; }
  std::string summary() const override { return "linear attention, states exchanged once, to the ranks that need them"; }
  bool serves(AttentionKind kind) const override { return kind == AttentionKind::linear; }
  bool published_ignores_documents() const override { return true; }
  std::vector<Degrees> degrees(const Problem& problem) const override { return {{1, problem.ranks}}; }

 private:
  Schedule compile(const Problem& problem, const Degrees& degrees, const StrategyOptions&) const override {
    ProgramBuilder builder(name(), degrees, problem, place_contiguous(problem.mask, problem.ranks));
    state_gather(builder, boundary_views(builder));
    return builder.take();
  }
};

}  // namespace

const Strategy& lasp2_strategy() {
  static const Lasp2 strategy;
  return strategy;
}

}  // namespace hsap
