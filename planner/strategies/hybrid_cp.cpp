// hybrid-cp: a context-parallel degree per document, a power of two, as Megatron-LM's hybrid context parallelism
// (hybrid_cp_schedule.py) and FlexSP (arXiv 2412.01523) have it: a document of l tokens gets the least degree at which a rank
// holds at most `block` of its tokens; groups of one size are aligned, and each document goes to the group with the least load,
// long ones first. In a group the document runs as a zigzag ring of its own; short documents move nothing. Option block: most
// tokens of one document on a rank (max_seqlen_per_rank in Megatron), default T / P. Megatron also doubles the degree of
// documents to fill idle GPUs and puts a barrier between groups of different size; ours does neither: a rank goes on when its
// own group is done. Where P is not a power of two, sizes are the powers of two that divide it, and P itself.
#include "planner/strategies/document_groups.hpp"

namespace hsap {

namespace {

class HybridCp : public Strategy {
 public:
  std::string name() const override { return "hybrid-cp"; }
  std::string summary() const override { return "a ring of its own degree for each document"; }
  bool serves(AttentionKind kind) const override { return kind == AttentionKind::softmax; }
  std::vector<Degrees> degrees(const Problem& problem) const override { return {{1, problem.ranks}}; }
  std::vector<std::string> options() const override { return {"block"}; }

 private:
  Schedule compile(const Problem& problem, const Degrees& degrees, const StrategyOptions& options) const override {
    const Token block = options.block > 0 ? options.block : (problem.mask.tokens() + problem.ranks - 1) / problem.ranks;
    return compile_groups(name(), degrees, problem, groups_by_degree(problem.mask, problem.ranks, block));
  }
};

}  // namespace

const Strategy& hybrid_cp_strategy() {
  static const HybridCp strategy;
  return strategy;
}

}  // namespace hsap
