#include "planner/strategies/relay/circle.hpp"

#include <algorithm>

namespace hsap {

namespace {

/// Pieces of a unit that can be told apart when it is passed on: bits of UnitTransfer::parts.
constexpr std::size_t kMostParts = 64;

/// A unit goes by several NICs in parts of this fraction of what is worth a message by itself.
constexpr Token kPartsOfMessage = 4;

Token rows_of(std::span<const HeldRows> all) {
  Token rows = 0;
  for (const HeldRows& held : all) rows += held.rows.size();
  return rows;
}

Token last_row(const RelayDocument::Node& node) {
  Token last = 0;
  for (const RelayDocument::Member& member : node.members) last = std::max(last, member.rows.back().end);
  return last;
}

}  // namespace

Token common_rows(std::span<const HeldRows> pieces, Ranges ranges) {
  Token rows = 0;
  for (const HeldRows& held : pieces)
    for_each_common(held.rows, ranges, [&](const TokenRange& common) { rows += common.size(); });
  return rows;
}

RelayCircle::RelayCircle(const RelayDocument& document) : document_(&document) {
  std::vector<TokenRange> held;
  for (const RelayDocument::Node& node : document.nodes) {
    Place& place = places_.emplace_back();
    place.node = &node;
    held.clear();
    for (const RelayDocument::Member& member : node.members) held.insert(held.end(), member.rows.begin(), member.rows.end());
    normalise(held);
    for (const TokenRange& range : node.needs)
      for_each_gap(range, held, [&](const TokenRange& gap) { place.lacks.push_back(gap); });
  }
  std::sort(places_.begin(), places_.end(),
            [](const Place& a, const Place& b) { return last_row(*a.node) < last_row(*b.node); });
  for (const Place& place : places_) transfers.nodes.push_back(place.node->node);
}

void RelayCircle::cut_units(Token rows, Token least, const RelayNodes& nodes, Gateways& gateways) {
  std::vector<TokenRange> needed;
  std::vector<Token> borders;
  for (const Place& place : places_)
    for (const TokenRange& range : place.lacks) {
      needed.push_back(range);
      borders.push_back(range.begin), borders.push_back(range.end);
    }
  normalise(needed);
  std::sort(borders.begin(), borders.end());
  borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
  for (Place& place : places_) {
    place.first_unit = transfers.units;
    const std::vector<HeldRows> all = leaving(place, needed, borders);
    for (std::size_t first = 0, last = 0; first < all.size(); first = last) {
      Token together = 0, border = 0;
      for (; last < all.size() && (together < least || all[last].rows.begin < border); ++last) {
        together += all[last].rows.size();
        border = *std::upper_bound(borders.begin(), borders.end(), all[last].rows.begin);
      }
      add_units(std::span(all).subspan(first, last - first), rows, least, nodes, gateways);
    }
    place.units = transfers.units - place.first_unit;
  }
}

std::vector<HeldRows> RelayCircle::leaving(const Place& place, Ranges needed, std::span<const Token> borders) const {
  std::vector<HeldRows> all;
  for (const RelayDocument::Member& member : place.node->members)
    for (const TokenRange& held : member.rows)
      for_each_common(held, needed, [&](TokenRange rows) {
        for (auto border = std::upper_bound(borders.begin(), borders.end(), rows.begin); *border < rows.end; ++border) {
          all.push_back({{rows.begin, *border}, member.group});
          rows.begin = *border;
        }
        all.push_back({rows, member.group});
      });
  std::sort(all.begin(), all.end(), [](const HeldRows& a, const HeldRows& b) { return a.rows.begin < b.rows.begin; });
  return all;
}

void RelayCircle::add_units(std::span<const HeldRows> leaving, Token rows, Token least, const RelayNodes& nodes,
                            Gateways& gateways) {
  rows = std::max<Token>(1, rows);
  const Token total = rows_of(leaving), fitting = (total + rows - 1) / rows;
  const Token units = std::clamp<Token>(fitting, 1, std::max<Token>(1, total / least));
  const Token most = (total + units - 1) / units;
  std::vector<HeldRows> unit;
  Token room = most;
  for (HeldRows rest : leaving)
    while (rest.rows.size() > 0) {
      HeldRows part = rest;
      part.rows.end = std::min(rest.rows.end, rest.rows.begin + room);
      unit.push_back(part);
      room -= part.rows.size();
      rest.rows.begin = part.rows.end;
      if (room > 0) continue;
      add_unit(unit, least, nodes, gateways);
      unit.clear();
      room = most;
    }
  if (!unit.empty()) add_unit(unit, least, nodes, gateways);
}

void RelayCircle::add_unit(std::span<const HeldRows> unit, Token least, const RelayNodes& nodes, Gateways& gateways) {
  const Token rows = rows_of(unit);
  const int node = nodes.node(unit.front().group), groups = nodes.groups(node);
  const int nics = static_cast<int>(std::clamp<Token>(kPartsOfMessage * rows / least, 1, groups));
  ++transfers.units;
  is_striped_.push_back(nics > 1);
  const Token share = (rows + nics - 1) / nics;
  const int first = nodes.position(unit.front().group);
  Token counted = 0;
  for (const HeldRows& held : unit)
    for (TokenRange rest = held.rows; rest.size() > 0;) {
      if (nics == 1) {
        gateways.leave(*document_, rest, held.group, held.group, pieces_);
        break;
      }
      const TokenRange part{rest.begin, std::min(rest.end, rest.begin + share - counted % share)};
      const int position = (first + static_cast<int>(counted / share) * groups / nics) % groups;
      gateways.leave(*document_, part, held.group, nodes.first(node) + position, pieces_);
      rest.begin = part.end;
      counted += part.size();
    }
  first_piece_.push_back(pieces_.size());
}

void RelayCircle::add_transfers(const RelayNodes& nodes) {
  std::vector<Token> by_position;
  for (std::size_t taker = 0; taker < places_.size(); ++taker) {
    const Ranges lacks = places_[taker].lacks;
    if (lacks.empty()) continue;
    for (std::size_t distance = 1; distance < places_.size(); ++distance) {
      const Place& holder = places_[transfers.before(taker, distance)];
      const int groups = nodes.groups(holder.node->node);
      for (std::size_t unit = holder.first_unit; unit < holder.first_unit + holder.units; ++unit) {
        const std::span<const HeldRows> pieces = pieces_of(unit);
        by_position.assign(static_cast<std::size_t>(groups), 0);
        std::uint64_t parts = 0;
        for (std::size_t i = 0; i < pieces.size(); ++i)
          for_each_common(pieces[i].rows, lacks, [&](const TokenRange& common) {
            by_position[static_cast<std::size_t>(nodes.position(pieces[i].group))] += common.size();
            if (i < kMostParts) parts |= std::uint64_t{1} << i;
          });
        const Token most = *std::max_element(by_position.begin(), by_position.end());
        if (most == 0) continue;
        if (pieces.size() > kMostParts) parts = 0;
        transfers.transfers.push_back(
            {.unit = unit, .taker = taker, .distance = distance, .load = most * groups, .parts = parts});
      }
    }
  }
}

}  // namespace hsap
