#include "planner/strategies/relay_rounds.hpp"

#include <algorithm>

namespace hsap {

namespace {

/// Units in a round: smaller ones fill rounds better, and make more messages.
constexpr int kUnitsPerRound = 2;

}  // namespace

StepsInRounds::StepsInRounds(const RelayNodes& nodes, Token least_rows, Token entering, RelaySteps& result)
    : nodes_(nodes),
      least_rows_(least_rows),
      unit_rows_(std::max(least_rows, entering / std::max(1, kUnitsPerRound * nodes.full_stages))),
      result_(result),
      gateways_(nodes, result),
      loads_(nodes.nodes(), nodes.between_stages, entering / std::max(1, nodes.full_stages)) {}

void StepsInRounds::plan(const RelayDocument& document) {
  make_circle(document);
  landed_.assign(circle_.size() * units_.size(), {});
  for (std::size_t distance = 1; distance < circle_.size(); ++distance)
    for (std::size_t i = 0; i < circle_.size(); ++i) {
      const Place& holder = circle_[(i + circle_.size() - distance) % circle_.size()];
      for (std::size_t unit = 0; unit < holder.units; ++unit) take(document, i, distance, holder.first_unit + unit);
    }
}

void StepsInRounds::make_circle(const RelayDocument& document) {
  circle_.resize(document.nodes().size());
  needed_.clear(), units_.clear(), pieces_.clear();
  for (std::size_t i = 0; i < circle_.size(); ++i) {
    Place& place = circle_[i];
    place.node = &document.nodes()[i];
    held_.clear(), place.lacks.clear();
    for (const RelayDocument::Member& member : place.node->members)
      held_.insert(held_.end(), member.rows.begin(), member.rows.end());
    normalise(held_);
    for (const TokenRange& range : place.node->needs)
      for_each_gap(range, held_, [&](const TokenRange& gap) { place.lacks.push_back(gap); });
    needed_.insert(needed_.end(), place.lacks.begin(), place.lacks.end());
  }
  normalise(needed_);
  const auto last_row = [](const Place& place) {
    Token last = 0;
    for (const RelayDocument::Member& member : place.node->members) last = std::max(last, member.rows.back().end);
    return last;
  };
  std::sort(circle_.begin(), circle_.end(), [&](const Place& a, const Place& b) { return last_row(a) < last_row(b); });
  for (Place& place : circle_) make_units(document, place, needed_);
}

void StepsInRounds::make_units(const RelayDocument& document, Place& place, Ranges needed) {
  place.first_unit = units_.size();
  leaving_.clear();
  Token total = 0;
  for (const RelayDocument::Member& member : place.node->members)
    for (const TokenRange& held : member.rows)
      for_each_common(held, needed, [&](const TokenRange& rows) {
        leaving_.push_back({rows, member.group, 0, Store::own});
        total += rows.size();
      });
  std::sort(leaving_.begin(), leaving_.end(), [](const HeldRows& a, const HeldRows& b) { return a.rows.begin < b.rows.begin; });
  const Token units = std::max<Token>(1, total / unit_rows_);
  const Token rows_of_unit = (total + units - 1) / units;
  Token room = rows_of_unit;
  coming_.clear();
  for (HeldRows rest : leaving_)
    while (rest.rows.size() > 0) {
      HeldRows part = rest;
      part.rows.end = std::min(rest.rows.end, rest.rows.begin + room);
      coming_.push_back(part);
      room -= part.rows.size();
      rest.rows.begin = part.rows.end;
      if (room > 0) continue;
      close_unit(document, coming_);
      coming_.clear();
      room = rows_of_unit;
    }
  if (!coming_.empty()) close_unit(document, coming_);
  place.units = units_.size() - place.first_unit;
}

void StepsInRounds::close_unit(const RelayDocument& document, std::span<const HeldRows> all) {
  Unit unit{.first = pieces_.size()};
  for (const HeldRows& held : all) unit.rows += held.rows.size();
  const int node = nodes_.node(all.front().group), groups = nodes_.groups(node);
  unit.nics = static_cast<int>(std::clamp<Token>(unit.rows / least_rows_, 1, groups));
  if (unit.nics == 1) {
    pieces_.insert(pieces_.end(), all.begin(), all.end());
  } else {
    const Token share = (unit.rows + unit.nics - 1) / unit.nics;
    Token counted = 0;
    for (HeldRows rest : all)
      while (rest.rows.size() > 0) {
        const TokenRange part{rest.rows.begin, std::min(rest.rows.end, rest.rows.begin + share - counted % share)};
        const int turn = static_cast<int>(counted / share) * groups / unit.nics;
        const int exit = nodes_.first(node) + (nodes_.position(all.front().group) + turn) % groups;
        rest.rows.begin = part.end;
        counted += part.size();
        if (exit == rest.group) {
          pieces_.push_back({part, exit, 0, Store::own});
          continue;
        }
        const Ranges needs = document.needs_of_group(exit);
        const auto leave_as = [&](Store store) {
          return [&, store](const TokenRange& rows) {
            pieces_.push_back({rows, exit, 0, store});
            ArrivalRows& come = result_.arrivals[nodes_.arrival(exit, 0, store)];
            come.leaves = true;
            if (store == Store::needed) return;  // they come anyway
            append(come.rows, rows);
            result_.add({.stage = 0, .hop = Hop::inside, .from = rest.group, .arrival = store}, exit, rows);
          };
        };
        for_each_common(part, needs, leave_as(Store::needed));
        for_each_gap(part, needs, leave_as(Store::passing));
      }
  }
  unit.count = pieces_.size() - unit.first;
  units_.push_back(unit);
}

Token StepsInRounds::find_coming(std::size_t first, std::size_t count, const Place& place) {
  coming_.clear();
  Token total = 0;
  for (const HeldRows& held : std::span(pieces_).subspan(first, count))
    for_each_common(held.rows, place.lacks, [&](const TokenRange& rows) {
      coming_.push_back({rows, held.group, held.stage, held.store});
      total += rows.size();
    });
  return total;
}

void StepsInRounds::take(const RelayDocument& document, std::size_t place, std::size_t distance, std::size_t u) {
  const Place& taker = circle_[place];
  const Unit unit = units_[u];
  const Token rows = find_coming(unit.first, unit.count, taker);
  if (rows == 0) return;
  const auto before = [&](std::size_t places) { return (place + circle_.size() - places) % circle_.size(); };
  const int to = taker.node->node;
  const Landed* from = nullptr;
  int sender = circle_[before(distance)].node->node;
  const Token load = rows * nodes_.groups(sender) / unit.nics;  // of a NIC, times those of a node
  int round = loads_.first_with_room(sender, to, 0, load);
  for (std::size_t step = 1; step < distance; step *= 2) {
    const Landed& there = landed(before(step), u);
    if (there.count == 0 || there.round + 1 >= round) continue;
    const int other = circle_[before(step)].node->node;
    const int possible = loads_.first_with_room(other, to, there.round + 1, load);
    if (possible >= round) continue;
    if (there.rows < unit.rows && find_coming(there.first, there.count, taker) < rows) continue;
    from = &there, sender = other, round = possible;
  }
  if (from != nullptr)
    find_coming(from->first, from->count, taker);
  else
    find_coming(unit.first, unit.count, taker);
  loads_.add(sender, to, round, load);
  gateways_.begin(document, *taker.node, unit.nics > 1);
  for (const HeldRows& held : coming_) gateways_.enter(held, nodes_.inside_stages + round);
  gateways_.pass_on(nodes_.inside_stages + round);
  landed(place, u) = {pieces_.size(), gateways_.landed().size(), rows, round};
  pieces_.insert(pieces_.end(), gateways_.landed().begin(), gateways_.landed().end());
}

}  // namespace hsap
