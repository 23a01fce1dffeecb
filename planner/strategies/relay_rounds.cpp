#include "planner/strategies/relay_rounds.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

namespace hsap {

namespace {

/// Units in a round: smaller ones fill rounds better, and make more messages.
constexpr int kUnitsPerRound = 2;

Token rows_of(std::span<const HeldRows> all) {
  Token rows = 0;
  for (const HeldRows& held : all) rows += held.rows.size();
  return rows;
}

Token common_rows(std::span<const HeldRows> pieces, Ranges ranges) {
  Token rows = 0;
  for (const HeldRows& held : pieces)
    for_each_common(held.rows, ranges, [&](const TokenRange& common) { rows += common.size(); });
  return rows;
}

Token last_row(const RelayDocument::Node& node) {
  Token last = 0;
  for (const RelayDocument::Member& member : node.members) last = std::max(last, member.rows.back().end);
  return last;
}

}  // namespace

StepsInRounds::StepsInRounds(const RelayNodes& nodes, Token least_rows, std::vector<double> own_pairs, RelaySteps& result)
    : nodes_(nodes), least_rows_(least_rows), own_pairs_(std::move(own_pairs)), gateways_(nodes, result) {}

void StepsInRounds::plan(const std::deque<RelayDocument>& documents) {
  for (const RelayDocument& document : documents) add_circle(document);
  const Token round_rows = most_entering() / nodes_.full_stages;
  for (std::size_t c = 0; c < circles_.size(); ++c) {
    make_units(circles_[c], transfers_[c], std::max(least_rows_, round_rows / kUnitsPerRound));
    add_transfers(circles_[c], transfers_[c]);
  }
  set_deadlines();
  choose_rounds(transfers_, nodes_, round_rows);
  for (std::size_t c = 0; c < circles_.size(); ++c) take(circles_[c], transfers_[c]);
}

void StepsInRounds::add_circle(const RelayDocument& document) {
  Circle& circle = circles_.emplace_back();
  circle.document = &document;
  std::vector<TokenRange> held;
  for (const RelayDocument::Node& node : document.nodes()) {
    Place& place = circle.places.emplace_back();
    place.node = &node;
    held.clear();
    for (const RelayDocument::Member& member : node.members) held.insert(held.end(), member.rows.begin(), member.rows.end());
    normalise(held);
    for (const TokenRange& range : held) place.rows += range.size();
    for (const TokenRange& range : node.needs)
      for_each_gap(range, held, [&](const TokenRange& gap) { place.lacks.push_back(gap); });
  }
  std::sort(circle.places.begin(), circle.places.end(),
            [](const Place& a, const Place& b) { return last_row(*a.node) < last_row(*b.node); });
  TransferCircle& transfers = transfers_.emplace_back();
  for (const Place& place : circle.places) transfers.nodes.push_back(place.node->node);
}

Token StepsInRounds::most_entering() const {
  std::vector<Token> rows(static_cast<std::size_t>(nodes_.nodes()));
  for (const Circle& circle : circles_)
    for (const Place& place : circle.places)
      for (const TokenRange& range : place.lacks) rows[static_cast<std::size_t>(place.node->node)] += range.size();
  return *std::max_element(rows.begin(), rows.end());
}

void StepsInRounds::make_units(Circle& circle, TransferCircle& transfers, Token unit_rows) {
  needed_.clear(), borders_.clear();
  for (const Place& place : circle.places)
    for (const TokenRange& range : place.lacks) {
      needed_.push_back(range);
      borders_.push_back(range.begin), borders_.push_back(range.end);
    }
  normalise(needed_);
  std::sort(borders_.begin(), borders_.end());
  for (Place& place : circle.places) {
    place.first_unit = transfers.units.size();
    find_leaving(place);
    const Token least = std::min(unit_rows, least_rows_);  // worth a cut
    for (std::size_t first = 0, last = 0; first < leaving_.size(); first = last) {
      Token rows = 0;
      auto next = borders_.begin();
      for (; last < leaving_.size() && (rows < least || leaving_[last].rows.begin < *next); ++last) {
        rows += leaving_[last].rows.size();
        next = std::upper_bound(borders_.begin(), borders_.end(), leaving_[last].rows.begin);
      }
      add_units(circle, transfers, std::span(leaving_).subspan(first, last - first), unit_rows);
    }
    place.units = transfers.units.size() - place.first_unit;
  }
  circle.first_piece.push_back(circle.pieces.size());
}

void StepsInRounds::find_leaving(const Place& place) {
  leaving_.clear();
  for (const RelayDocument::Member& member : place.node->members)
    for (const TokenRange& held : member.rows)
      for_each_common(held, needed_, [&](TokenRange rows) {
        for (auto border = std::upper_bound(borders_.begin(), borders_.end(), rows.begin); *border < rows.end; ++border) {
          if (*border == rows.begin) continue;
          leaving_.push_back({{rows.begin, *border}, member.group, 0, Store::own});
          rows.begin = *border;
        }
        leaving_.push_back({rows, member.group, 0, Store::own});
      });
  std::sort(leaving_.begin(), leaving_.end(), [](const HeldRows& a, const HeldRows& b) { return a.rows.begin < b.rows.begin; });
}

void StepsInRounds::add_units(Circle& circle, TransferCircle& transfers, std::span<const HeldRows> leaving, Token unit_rows) {
  const Token total = rows_of(leaving), units = std::max<Token>(1, total / unit_rows);
  const Token rows_of_unit = (total + units - 1) / units;
  unit_.clear();
  Token room = rows_of_unit;
  for (HeldRows rest : leaving)
    while (rest.rows.size() > 0) {
      HeldRows part = rest;
      part.rows.end = std::min(rest.rows.end, rest.rows.begin + room);
      unit_.push_back(part);
      room -= part.rows.size();
      rest.rows.begin = part.rows.end;
      if (room > 0) continue;
      add_unit(circle, transfers);
      room = rows_of_unit;
    }
  if (!unit_.empty()) add_unit(circle, transfers);
}

void StepsInRounds::add_unit(Circle& circle, TransferCircle& transfers) {
  const Token rows = rows_of(unit_);
  const int node = nodes_.node(unit_.front().group), groups = nodes_.groups(node);
  const int nics = static_cast<int>(std::clamp<Token>(rows / least_rows_, 1, groups));
  transfers.units.push_back({rows, nics});
  circle.first_piece.push_back(circle.pieces.size());
  const Token share = (rows + nics - 1) / nics;
  const int first = nodes_.position(unit_.front().group);
  Token counted = 0;
  for (const HeldRows& held : unit_)
    for (TokenRange rest = held.rows; rest.size() > 0;) {
      const TokenRange part{rest.begin, nics == 1 ? rest.end : std::min(rest.end, rest.begin + share - counted % share)};
      const int turn = static_cast<int>(counted / share) * groups / nics;
      const int exit = nics == 1 ? held.group : nodes_.first(node) + (first + turn) % groups;
      gateways_.leave(*circle.document, part, held.group, exit, circle.pieces);
      rest.begin = part.end;
      counted += part.size();
    }
  unit_.clear();
}

void StepsInRounds::add_transfers(const Circle& circle, TransferCircle& transfers) const {
  const std::size_t places = circle.places.size();
  for (std::size_t taker = 0; taker < places; ++taker) {
    if (circle.places[taker].lacks.empty()) continue;
    for (std::size_t distance = 1; distance < places; ++distance) {
      const Place& holder = circle.places[transfers.before(taker, distance)];
      for (std::size_t unit = holder.first_unit; unit < holder.first_unit + holder.units; ++unit)
        if (const Token rows = common_rows(circle.pieces_of(unit), circle.places[taker].lacks); rows > 0)
          transfers.transfers.push_back({.unit = unit, .taker = taker, .distance = distance, .rows = rows});
    }
  }
}

void StepsInRounds::set_deadlines() {
  struct Coming {
    int group;
    std::size_t distance;
    double pairs;
    UnitTransfer* transfer;
  };
  std::vector<Coming> coming;
  for (std::size_t c = 0; c < circles_.size(); ++c)
    for (UnitTransfer& transfer : transfers_[c].transfers) {
      transfer.deadline = std::numeric_limits<double>::infinity();
      for (const RelayDocument::Member& member : circles_[c].places[transfer.taker].node->members) {
        const Token needed = common_rows(circles_[c].pieces_of(transfer.unit), member.needs);
        Token held = 0;
        for (const TokenRange& range : member.rows) held += range.size();
        if (needed > 0)
          coming.push_back(
              {member.group, transfer.distance, static_cast<double>(needed) * static_cast<double>(held), &transfer});
      }
    }
  std::stable_sort(coming.begin(), coming.end(), [](const Coming& a, const Coming& b) {
    return std::tie(a.group, a.distance) < std::tie(b.group, b.distance);
  });
  double pairs = 0;
  for (std::size_t i = 0; i < coming.size(); ++i) {
    if (i == 0 || coming[i].group != coming[i - 1].group) pairs = own_pairs_[static_cast<std::size_t>(coming[i].group)];
    coming[i].transfer->deadline = std::min(coming[i].transfer->deadline, pairs);
    pairs += coming[i].pairs;
  }
}

void StepsInRounds::take(const Circle& circle, const TransferCircle& transfers) {
  for (std::size_t i = 0; i < transfers.transfers.size(); ++i) {  // by taker
    const UnitTransfer& transfer = transfers.transfers[i];
    take(circle, transfers, transfer);
    if (i + 1 == transfers.transfers.size() || transfers.transfers[i + 1].taker != transfer.taker)
      gateways_.pass_on(*circle.places[transfer.taker].node);
  }
}

void StepsInRounds::take(const Circle& circle, const TransferCircle& transfers, const UnitTransfer& transfer) {
  const Place& taker = circle.places[transfer.taker];
  const Place& source = circle.places[transfers.before(transfer.taker, transfer.source)];
  const bool by_all_nics = transfers.units[transfer.unit].nics > 1;
  for (const HeldRows& piece : circle.pieces_of(transfer.unit)) {
    const int position = nodes_.position(piece.group);
    const auto enter = [&](const HeldRows& held) {
      for_each_common(held.rows, taker.lacks, [&](const TokenRange& rows) {
        gateways_.enter(*circle.document, *taker.node, {rows, held.group, held.stage, held.store}, position, by_all_nics,
                        nodes_.inside_stages + transfer.round);
      });
    };
    if (transfer.source == transfer.distance)
      enter(piece);
    else
      gateways_.find_gateway(*circle.document, *source.node, piece.rows, position, by_all_nics,
                             [&](const TokenRange& rows, int group, Store store) {
                               enter({rows, group, nodes_.inside_stages + transfer.source_round, store});
                             });
  }
}

}  // namespace hsap
