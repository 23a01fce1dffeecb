// zeppelin (second-hand: the paper's schedule is known to us from a summary): documents are local (whole on one rank),
// intra-node (a zigzag ring inside a node) or inter-node (a zigzag ring over all ranks, whose hops between nodes use every NIC,
// multi_nic_hops.hpp), run in the order inter, intra, local. The published classes come from a cost cross-over; ours, which
// know no speeds, from shares of the pack [our inference]: local up to the tokens of a rank, T / P, intra-node up to those of a
// node. Documents of a class go where least is to do, long ones first. Zeppelin deals tokens out anew for the MLP, which is not
// attention and not in the schedule.
#include <map>

#include "planner/strategies/document_groups.hpp"
#include "planner/strategies/multi_nic_hops.hpp"

namespace hsap {

namespace {

class Zeppelin : public Strategy {
 public:
  std::string name() const override { return "zeppelin"; }
  std::string summary() const override { return "local, intra-node and inter-node documents, hops over all NICs"; }
  bool serves(AttentionKind kind) const override { return kind == AttentionKind::softmax; }
  std::vector<Degrees> degrees(const Problem& problem) const override { return {{1, problem.ranks}}; }

 private:
  Schedule compile(const Problem& problem, const Degrees& degrees, const StrategyOptions&) const override {
    std::vector<DocumentGroup> inter(1), local(static_cast<std::size_t>(problem.ranks));
    std::map<int, DocumentGroup> by_node;
    for (RankId rank = 0; rank < static_cast<RankId>(problem.ranks); ++rank) {
      inter.front().ranks.push_back(rank);
      by_node[problem.node_of_rank[rank]].ranks.push_back(rank);
      local[rank].ranks.push_back(rank);
    }
    std::vector<DocumentGroup> intra;
    for (auto& [node, group] : by_node) intra.push_back(std::move(group));

    const Token tokens = problem.mask.tokens();
    const auto share_of = [&](std::size_t parts) { return (tokens - 1) / static_cast<Token>(parts) + 1; };
    std::vector<TokenRange> long_ones, middle_ones, short_ones;
    for (std::size_t d = 0; d < problem.mask.documents(); ++d) {
      const TokenRange document = problem.mask.document(d);
      const bool is_short = document.size() <= share_of(local.size());
      const bool is_middle = document.size() <= share_of(intra.size());
      (is_short ? short_ones : is_middle ? middle_ones : long_ones).push_back(document);
    }
    RankLoads loads(problem.ranks);
    loads.deal(problem.mask, std::move(long_ones), inter);
    loads.deal(problem.mask, std::move(middle_ones), intra);
    loads.deal(problem.mask, std::move(short_ones), local);
    std::vector<DocumentGroup> groups;
    for (const auto* of_class : {&inter, &intra, &local}) groups.insert(groups.end(), of_class->begin(), of_class->end());
    return compile_groups(name(), degrees, problem, groups, pass_over_all_nics(problem.node_of_rank));
  }
};

}  // namespace

const Strategy& zeppelin_strategy() {
  static const Zeppelin strategy;
  return strategy;
}

}  // namespace hsap
