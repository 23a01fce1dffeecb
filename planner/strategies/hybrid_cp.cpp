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
    const std::vector<int> sizes = group_sizes(problem.ranks);
    std::vector<std::vector<TokenRange>> of_size(sizes.size());
    for (std::size_t d = 0; d < problem.mask.documents(); ++d) {
      const TokenRange document = problem.mask.document(d);
      std::size_t size = 0;
      while (size + 1 < sizes.size() && document.size() > block * sizes[size]) ++size;
      of_size[size].push_back(document);
    }
    RankLoads loads(problem.ranks);
    std::vector<DocumentGroup> groups;
    for (std::size_t size = sizes.size(); size-- > 0;) {
      std::vector<DocumentGroup> candidates = aligned_groups(problem.ranks, sizes[size]);
      loads.deal(problem.mask, of_size[size], candidates);
      for (DocumentGroup& group : candidates) groups.push_back(std::move(group));
    }
    return compile_groups(name(), degrees, problem, groups);
  }

  static std::vector<int> group_sizes(int ranks) {
    std::vector<int> sizes{1};
    while (ranks % (2 * sizes.back()) == 0) sizes.push_back(2 * sizes.back());
    if (sizes.back() != ranks) sizes.push_back(ranks);
    return sizes;
  }

  static std::vector<DocumentGroup> aligned_groups(int ranks, int size) {
    std::vector<DocumentGroup> groups(static_cast<std::size_t>(ranks / size));
    for (RankId rank = 0; rank < static_cast<RankId>(ranks); ++rank)
      groups[rank / static_cast<RankId>(size)].ranks.push_back(rank);
    return groups;
  }
};

}  // namespace

const Strategy& hybrid_cp_strategy() {
  static const HybridCp strategy;
  return strategy;
}

}  // namespace hsap
