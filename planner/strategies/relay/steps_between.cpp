#include "planner/strategies/relay/steps_between.hpp"

#include <algorithm>

#include "planner/strategies/relay/stage_counter.hpp"

namespace hsap {

StepsBetween::StepsBetween(const RelayNodes& nodes, Token least_rows, RelaySteps& result)
    : nodes_(nodes), least_rows_(least_rows), chooser_(nodes, least_rows), gateways_(nodes, result) {}

void StepsBetween::plan(std::span<const RelayDocument> documents) {
  for (const RelayDocument& document : documents) chooser_.add(document.pieces, document.nodes);
  outlets_ = chooser_.choose();
  for (const RelayDocument& document : documents) {
    find_sources(document);
    take_from_holders(document);
  }
}

void StepsBetween::find_sources(const RelayDocument& document) {
  sources_.clear();
  const Token end = document.pieces.back().rows.end;
  for (; !outlets_.empty() && outlets_.front().rows.begin < end; outlets_ = outlets_.subspan(1)) {
    const Outlet& outlet = outlets_.front();
    gateways_.leave(document, outlet.rows, outlet.holder, outlet.exit, sources_);
  }
}

void StepsBetween::take_from_holders(const RelayDocument& document) {
  for (const RelayDocument::Node& node : document.nodes) {
    if (node.needs.empty()) continue;
    const auto first = std::upper_bound(sources_.begin(), sources_.end(), node.needs.front().begin,
                                        [](Token token, const HeldRows& source) { return token < source.rows.end; });
    const auto last = std::lower_bound(first, sources_.end(), node.needs.back().end,
                                       [](const HeldRows& source, Token token) { return source.rows.begin < token; });
    coming_.clear();
    Ranges needs = node.needs;
    for (auto source = first; source != last; ++source) {
      while (!needs.empty() && needs.front().end <= source->rows.begin) needs = needs.subspan(1);
      if (nodes_.node(source->group) != node.node)
        for_each_common(source->rows, needs, [&](const TokenRange& rows) {
          coming_.push_back({rows, source->group, source->stage, source->store});
        });
    }
    land(node);
  }
}

void StepsBetween::land(const RelayDocument::Node& node) {
  Token total = 0;
  for (const HeldRows& held : coming_) total += held.rows.size();
  if (total == 0) return;
  const bool by_all_nics =
      total >= static_cast<Token>(nodes_.groups(node.node)) * least_rows_ && chooser_.is_too_much_for(node.members);
  // The first stage gets the last rows: in a chain their holders are the nearest.
  StageCounter counter(total, nodes_.between_stages, least_rows_);
  for (const HeldRows& held : coming_)
    counter.split(held.rows, [&](int stage, const TokenRange& part) {
      gateways_.enter(node, {part, held.group, held.stage, held.store}, part, nodes_.position(held.group), by_all_nics,
                      nodes_.stage_of_round(stage));
    });
  gateways_.pass_on(node);
}

}  // namespace hsap
