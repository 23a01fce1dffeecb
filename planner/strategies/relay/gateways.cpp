#include "planner/strategies/relay/gateways.hpp"

#include <algorithm>

namespace hsap {

Gateways::Gateways(const RelayNodes& nodes, RelaySteps& result)
    : nodes_(nodes), result_(result), entered_in_(static_cast<std::size_t>(nodes.stages())) {
  int groups = 0;
  for (int node = 0; node < nodes.nodes(); ++node) groups = std::max(groups, nodes.groups(node));
  entered_.resize(nodes.arrival(groups, 0, Store::needed));
}

void Gateways::leave(const RelayDocument& document, const TokenRange& rows, int holder, int exit,
                     std::vector<HeldRows>& exits) {
  if (exit == holder) return exits.push_back({rows, holder, 0, Store::own});
  const Ranges needs = document.needs_of_group(exit);
  const auto leave_as = [&](Store store) {
    return [&, store](const TokenRange& part) {
      exits.push_back({part, exit, 0, store});
      const std::size_t arrival = nodes_.arrival(exit, 0, store);
      result_.leaves[arrival] = true;
      if (store == Store::needed && !nodes_.in_rounds) return;
      result_.coming.push_back({arrival, part});
      result_.add({.stage = 0, .hop = Hop::inside, .from = holder, .arrival = store}, exit, part);
    };
  };
  const auto first = static_cast<std::ptrdiff_t>(exits.size());
  for_each_common(rows, needs, leave_as(Store::needed));
  for_each_gap(rows, needs, leave_as(Store::passing));
  std::sort(exits.begin() + first, exits.end(),
            [](const HeldRows& a, const HeldRows& b) { return a.rows.begin < b.rows.begin; });
}

Gateways::Gateway Gateways::gateway(const RelayDocument::Node& node, const TokenRange& piece, int position, bool by_all_nics) {
  if (position < nodes_.groups(node.node)) {
    const int same = nodes_.first(node.node) + position;
    const Ranges needs = node.needs_of_group(same);
    if (by_all_nics || intersects(piece, needs)) return {same, needs};
  }
  needing_.clear();
  for (const RelayDocument::Member& member : node.members)
    if (intersects(piece, member.needs)) needing_.push_back(&member);
  const RelayDocument::Member& member = *needing_[static_cast<std::size_t>(position) % needing_.size()];
  return {member.group, member.needs};
}

void Gateways::enter(const RelayDocument::Node& node, const HeldRows& held, const TokenRange& piece, int position,
                     bool by_all_nics, int stage) {
  find_gateway(node, held.rows, piece, position, by_all_nics, [&](const TokenRange& part, int group, Store store) {
    const Way way{.stage = stage,
                  .hop = Hop::between,
                  .from = held.group,
                  .source_stage = held.stage,
                  .source = held.store,
                  .arrival = store};
    result_.add(way, group, part);
    append(entered(nodes_.position(group), stage, store), part);
  });
  append(entered(stage), held.rows);
}

void Gateways::pass_on(const RelayDocument::Node& node) {
  for (int round = 0; round < nodes_.between_stages; ++round) {
    const int stage = nodes_.stage_of_round(round);
    std::vector<TokenRange>& rows = entered(stage);
    normalise(rows);
    for (const RelayDocument::Member& member : node.members) {
      const std::size_t arrival = nodes_.arrival(member.group, stage, Store::needed);
      for_each_common(Ranges(rows), member.needs, [&](const TokenRange& common) {
        result_.coming.push_back({arrival, common});
      });
    }
    rows.clear();
  }
  for (int position = 0; position < nodes_.groups(node.node); ++position)
    for (int round = 0; round < nodes_.between_stages; ++round)
      for (const Store store : {Store::needed, Store::passing}) pass_on(node, position, nodes_.stage_of_round(round), store);
}

void Gateways::pass_on(const RelayDocument::Node& node, int position, int stage, Store store) {
  std::vector<TokenRange>& rows = entered(position, stage, store);
  if (rows.empty()) return;
  normalise(rows);
  const TokenRange hull{rows.front().begin, rows.back().end};
  const int gateway = nodes_.first(node.node) + position;
  const std::size_t arrival = nodes_.arrival(gateway, stage, store);
  for (const TokenRange& range : rows) result_.entering.push_back({arrival, range});
  if (store == Store::passing)
    for (const TokenRange& range : rows) result_.coming.push_back({arrival, range});
  const std::uint64_t way =
      Way{.stage = stage, .hop = Hop::onward, .from = gateway, .source_stage = stage, .source = store}.number();
  std::vector<TokenRange>& ranges = result_.ranges;
  std::size_t all = 0;  // where `rows` lie in the result, once somebody needs all of them
  for (const RelayDocument::Member& member : node.members) {
    if (member.group == gateway) continue;
    const bool needs_all = std::any_of(member.needs.begin(), member.needs.end(), [&](const TokenRange& range) {
      return range.begin <= hull.begin && hull.end <= range.end;
    });
    std::size_t first = ranges.size();
    if (needs_all && all > 0) {
      first = all;
    } else if (needs_all) {
      all = first;
      ranges.insert(ranges.end(), rows.begin(), rows.end());
    } else {
      for_each_common(Ranges(rows), member.needs, [&](const TokenRange& common) { ranges.push_back(common); });
    }
    const std::size_t count = needs_all ? rows.size() : ranges.size() - first;
    if (count > 0)
      result_.steps.push_back({way, member.group, static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(count)});
  }
  rows.clear();
}

}  // namespace hsap
