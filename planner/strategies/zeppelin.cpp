// zeppelin (second-hand: the paper's schedule is known to us from a summary): documents are local (whole on one rank),
// intra-node (a zigzag ring inside a node) or inter-node (a zigzag ring over all ranks, whose hops between nodes use every NIC,
// multi_nic_hops.hpp), run in the order inter, intra, local. The published classes come from a cost cross-over; ours, which
// know no speeds, from shares of the pack [our inference]: local up to the tokens of a rank, T / P, intra-node up to those of a
// node. Documents of a class go where least is to do, long ones first. Zeppelin deals tokens out anew for the MLP, which is not
// attention and not in the schedule.
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
    return compile_groups(name(), degrees, problem, groups_by_class(problem.mask, problem.node_of_rank),
                          pass_over_all_nics(problem.node_of_rank));
  }
};

}  // namespace

const Strategy& zeppelin_strategy() {
  static const Zeppelin strategy;
  return strategy;
}

}  // namespace hsap
