#include "planner/strategies/relay_gateways.hpp"

#include <algorithm>

namespace hsap {

void Gateways::begin(const RelayDocument& document, const RelayDocument::Node& node, bool by_all_nics) {
  document_ = &document, node_ = &node, by_all_nics_ = by_all_nics;
  const std::size_t lists = nodes_.arrival(nodes_.groups(node.node), 0, Store::needed);
  if (entered_.size() < lists) entered_.resize(lists);
  landed_.clear();
}

int Gateways::gateway(int group, const TokenRange& rows) {
  const int position = nodes_.position(group);
  const int same = nodes_.first(node_->node) + position;
  const bool exists = position < nodes_.groups(node_->node);
  if (exists && (by_all_nics_ || intersects(rows, document_->needs_of_group(same)))) return same;
  needing_.clear();
  for (const RelayDocument::Member& member : node_->members)
    if (intersects(rows, member.needs)) needing_.push_back(member.group);
  return needing_[static_cast<std::size_t>(position) % needing_.size()];
}

void Gateways::enter(const HeldRows& held, int stage) {
  const int group = gateway(held.group, held.rows);
  const Ranges needs = document_->needs_of_group(group);
  const auto enter_as = [&](Store store) {
    return [&, store](const TokenRange& part) {
      const Way way{.stage = stage,
                    .hop = Hop::between,
                    .from = held.group,
                    .source_stage = held.stage,
                    .source = held.store,
                    .arrival = store};
      result_.add(way, group, part);
      entered(nodes_.position(group), stage, store).push_back(part);
      landed_.push_back({part, group, stage, store});
      ArrivalRows& come = result_.arrivals[nodes_.arrival(group, stage, store)];
      append(come.entered, part);
      if (store == Store::passing) append(come.rows, part);
    };
  };
  for_each_common(held.rows, needs, enter_as(Store::needed));
  for_each_gap(held.rows, needs, enter_as(Store::passing));
  for (const RelayDocument::Member& member : node_->members)
    for_each_common(held.rows, member.needs, [&](const TokenRange& common) {
      append(result_.arrivals[nodes_.arrival(member.group, stage, Store::needed)].rows, common);
    });
}

void Gateways::pass_on(int stage) {
  for (int position = 0; position < nodes_.groups(node_->node); ++position)
    for (const Store store : {Store::needed, Store::passing}) pass_on(position, stage, store);
}

void Gateways::pass_on(int position, int stage, Store store) {
  std::vector<TokenRange>& rows = entered(position, stage, store);
  if (rows.empty()) return;
  normalise(rows);
  const TokenRange hull{rows.front().begin, rows.back().end};
  const int gateway = nodes_.first(node_->node) + position;
  const std::uint64_t way =
      Way{.stage = stage, .hop = Hop::onward, .from = gateway, .source_stage = stage, .source = store}.number();
  std::vector<TokenRange>& ranges = result_.ranges;
  std::size_t all = 0;  // where `rows` lie in the result, once somebody needs all of them
  for (const RelayDocument::Member& member : node_->members) {
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
      for (const TokenRange& range : rows)
        for_each_common(range, member.needs, [&](const TokenRange& common) { ranges.push_back(common); });
    }
    const std::size_t count = needs_all ? rows.size() : ranges.size() - first;
    if (count > 0)
      result_.steps.push_back({way, member.group, static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(count)});
  }
  rows.clear();
}

}  // namespace hsap
