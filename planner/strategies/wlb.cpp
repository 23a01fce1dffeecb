// wlb: WLB-LLM's context parallelism (Wang et al. 2025, arXiv 2503.17924; its code as DistCA carries it): zigzag shards, either
// of each document, remainder tokens dealt round robin without padding, or of the whole pack as one sequence. K, then V, are
// all-gathered without overlap and kept, with which backward needs only the reduce-scatter: (P-1) KVb each way (kv_gather.hpp).
// Per-document shards balance exactly but run kernels on slivers of l / 2P rows, per-sequence shards keep documents whole;
// WLB-LLM chooses by predicted kernel time for each micro-batch: the search does, over the two placements. The published code
// attends in two calls, one per chunk, with copies of the visible keys; ours in one without copies.
#include "planner/ir/errors.hpp"
#include "planner/placement/placement.hpp"
#include "planner/strategies/kv_gather.hpp"

namespace hsap {

namespace {

constexpr const char* kPerDocument = "per-document";
constexpr const char* kPerSequence = "per-sequence";

class Wlb : public Strategy {
 public:
  std::string name() const override { return "wlb"; }
  std::string summary() const override { return "zigzag shards per document or per pack, all KV gathered and kept"; }
  bool serves(AttentionKind kind) const override { return kind == AttentionKind::softmax; }
  std::vector<Degrees> degrees(const Problem& problem) const override { return {{1, problem.ranks}}; }
  std::vector<std::string> options() const override { return {"placement", "kv", "dkv-dtype"}; }
  std::vector<StrategyOptions> variants(const Problem&, const Degrees&) const override {
    return {{.placement = kPerDocument}, {.placement = kPerSequence}};
  }

 private:
  Schedule compile(const Problem& problem, const Degrees& degrees, const StrategyOptions& options) const override {
    ProgramBuilder builder(name(), degrees, problem, place(problem, options.placement));
    gather_attention(builder, problem,
                     {.keep_kv = options.kv != KvForBackward::again,
                      .k_before_v = true,
                      .gradient = options.d_kv.value_or(problem.shape.dtype)});
    return builder.take();
  }

  static Placement place(const Problem& problem, const std::string& law) {
    if (law.empty() || law == kPerDocument) return place_zigzag(problem.mask, problem.ranks);
    if (law == kPerSequence) return place_zigzag(std::vector<TokenRange>{{0, problem.mask.tokens()}}, problem.ranks);
    throw InvalidInput("wlb: placement \"" + law + "\" is not known; expected one of " + kPerDocument + ", " + kPerSequence);
  }
};

}  // namespace

const Strategy& wlb_strategy() {
  static const Wlb strategy;
  return strategy;
}

}  // namespace hsap
