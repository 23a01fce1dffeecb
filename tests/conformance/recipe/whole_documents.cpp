// whole-documents: documents dealt out round robin, each whole on one rank, so that nothing is sent.
#include "planner/strategies/inner_attention.hpp"

namespace hsap {

namespace {

class WholeDocuments : public Strategy {
 public:
  std::string name() const override { return "whole-documents"; }
  std::string summary() const override { return "documents dealt out whole, nothing is sent"; }
  bool serves(AttentionKind) const override { return true; }
  std::vector<Degrees> degrees(const Problem& problem) const override { return {{1, problem.ranks}}; }

 private:
  Schedule compile(const Problem& problem, const Degrees& degrees, const StrategyOptions&) const override {
    std::vector<std::vector<TokenRange>> dealt(static_cast<std::size_t>(problem.ranks));
    for (std::size_t d = 0; d < problem.mask.documents(); ++d) dealt[d % dealt.size()].push_back(problem.mask.document(d));
    std::vector<TokenSet> owned;
    for (const std::vector<TokenRange>& documents : dealt) owned.emplace_back(documents);
    ProgramBuilder builder(name(), degrees, problem, owned);
    for (const View& view : boundary_views(builder)) attend_locally(builder, view);
    return builder.take();
  }
};

}  // namespace

const Strategy& whole_documents_strategy() {
  static const WholeDocuments strategy;
  return strategy;
}

}  // namespace hsap
