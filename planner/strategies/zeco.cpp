// zeco: linear attention on contiguous shards, states handed on by a pipelined scan (ZeCO's All-Scan, arXiv 2507.01004; known
// to us second-hand, from what others write of it; state_scan.hpp). Stages are the blocks of heads of the scan.
#include "planner/placement/placement.hpp"
#include "planner/strategies/state_scan.hpp"

namespace hsap {

namespace {

class Zeco : public Strategy {
 public:
  std::string name() const override { return "zeco"; }
  std::string summary() const override { return "linear attention, states handed on block by block in a pipelined scan"; }
  bool serves(AttentionKind kind) const override { return kind == AttentionKind::linear; }
  bool published_ignores_documents() const override { return true; }
  std::vector<Degrees> degrees(const Problem& problem) const override { return {{1, problem.ranks}}; }
  std::vector<std::string> options() const override { return {"stages"}; }

  std::vector<StrategyOptions> variants(const Problem& problem, const Degrees& degrees) const override {
    if (degrees.inter <= 2) return {{.placement = {}, .stages = 1}};  // nothing is passed on, so nothing is pipelined
    std::vector<StrategyOptions> result;
    for (const int stages : scan_stages(problem.shape.kv_heads)) result.push_back({.placement = {}, .stages = stages});
    return result;
  }

 private:
  Schedule compile(const Problem& problem, const Degrees& degrees, const StrategyOptions& options) const override {
    ProgramBuilder builder(name(), degrees, problem, place_contiguous(problem.mask, problem.ranks));
    state_scan(builder, boundary_views(builder), options.stages);
    return builder.take();
  }
};

}  // namespace

const Strategy& zeco_strategy() {
  static const Zeco strategy;
  return strategy;
}

}  // namespace hsap
