#include "planner/strategies/relay/steps.hpp"

#include <algorithm>
#include <span>

#include "planner/strategies/relay/cut_documents.hpp"
#include "planner/strategies/relay/document.hpp"
#include "planner/strategies/relay/stage_counter.hpp"
#include "planner/strategies/relay/steps_between.hpp"
#include "planner/strategies/relay/steps_in_rounds.hpp"

namespace hsap {

namespace {

/// From holders to those members of their node that need the rows.
class StepsInside {
 public:
  StepsInside(const RelayNodes& nodes, Token least_rows, RelaySteps& result)
      : nodes_(nodes),
        least_rows_(least_rows),
        result_(result),
        rows_of_stage_(static_cast<std::size_t>(nodes.inside_stages)) {}

  void plan(const RelayDocument& document) {
    for (const RelayDocument::Node& node : document.nodes)
      for (const RelayDocument::Member& to : node.members) plan_to(to, node.members);
  }

 private:
  using Member = RelayDocument::Member;

  void plan_to(const Member& to, std::span<const Member> members) {
    const auto each_held = [&](const auto& visit) {  // the last holders first: theirs is the last stage
      for (std::size_t from = members.size(); from-- > 0;)
        if (members[from].group != to.group && reach(members[from].rows, to.needs))
          for (const TokenRange& rows : members[from].rows)
            for_each_common(rows, to.needs, [&](const TokenRange& common) { visit(members[from].group, common); });
    };
    Token total = 0;
    if (nodes_.inside_stages > 1) each_held([&](int, const TokenRange& rows) { total += rows.size(); });
    StageCounter counter(total, nodes_.inside_stages, least_rows_);
    each_held([&](int holder, const TokenRange& rows) {
      counter.split(rows, [&](int stage, const TokenRange& part) {
        result_.add({.stage = stage, .hop = Hop::inside, .from = holder}, to.group, part);
        rows_of_stage_[static_cast<std::size_t>(stage)].push_back(part);
      });
    });
    for (int stage = 0; stage < nodes_.inside_stages; ++stage) {
      std::vector<TokenRange>& rows = rows_of_stage_[static_cast<std::size_t>(stage)];
      if (rows.empty()) continue;
      normalise(rows);
      const std::size_t arrival = nodes_.arrival(to.group, stage, Store::needed);
      for (const TokenRange& range : rows) result_.coming.push_back({arrival, range});
      rows.clear();
    }
  }

  const RelayNodes& nodes_;
  const Token least_rows_;
  RelaySteps& result_;
  std::vector<std::vector<TokenRange>> rows_of_stage_;  // of the member at hand
};

/// [group] pairs of its rows with those of its node.
std::vector<double> own_pairs(const DocumentMask& mask, const std::vector<const TokenSet*>& groups, const RelayNodes& nodes) {
  std::vector<double> pairs;
  for (int node = 0; node < nodes.nodes(); ++node) {
    std::vector<TokenRange> ranges;
    for (int g = nodes.first(node); g < nodes.first(node + 1); ++g) {
      const Ranges held = groups[static_cast<std::size_t>(g)]->ranges();
      ranges.insert(ranges.end(), held.begin(), held.end());
    }
    const TokenSet held(std::move(ranges));
    for (int g = nodes.first(node); g < nodes.first(node + 1); ++g)
      pairs.push_back(static_cast<double>(mask.pairs(*groups[static_cast<std::size_t>(g)], held)));
  }
  return pairs;
}

}  // namespace

RelaySteps plan_relay_steps(const DocumentMask& mask, const std::vector<const TokenSet*>& groups, const RelayNodes& nodes,
                            Token least_rows) {
  least_rows = std::max<Token>(1, least_rows);
  RelaySteps result;
  result.leaves.resize(nodes.arrival(static_cast<int>(groups.size()), 0, Store::needed));
  const std::vector<HeldPiece> pieces = cut_documents(mask, groups);
  const RelayDocuments documents(mask, nodes, pieces);
  if (nodes.nodes() > 1 && nodes.in_rounds) {
    StepsInRounds(mask, nodes, least_rows, own_pairs(mask, groups, nodes), result).plan(documents.all());
    return result;
  }
  StepsInside inside(nodes, least_rows, result);
  for (const RelayDocument& document : documents.all()) inside.plan(document);
  if (nodes.nodes() > 1) StepsBetween(nodes, least_rows, result).plan(documents.all());
  return result;
}

}  // namespace hsap
