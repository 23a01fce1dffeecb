#include "planner/strategies/relay/steps_in_rounds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "planner/strategies/relay/stage_counter.hpp"

namespace hsap {

namespace {

/// Units in a round: smaller ones fill rounds better, and make more messages.
constexpr Token kUnitsPerRound = 3;

/// Pairs of a member's rows with the keys of a unit of another node, as if all rows of a range saw what some of them see.
double pairs_with(const DocumentMask& mask, const RelayDocument& document, const RelayDocument::Member& member,
                  std::span<const HeldRows> unit) {
  double pairs = 0;
  for (const TokenRange& rows : member.rows) {
    const VisibleKeys keys = mask.keys_seen_by(document.pieces.front().document, rows);
    for (const TokenRange& seen : {keys.sinks, keys.main})
      pairs += static_cast<double>(rows.size()) * static_cast<double>(common_rows(unit, {&seen, 1}));
  }
  return pairs;
}

/// Those of the ranges that reach into `rows`. O(log ranges).
Ranges reaching(Ranges ranges, const TokenRange& rows) {
  const auto first = std::ranges::upper_bound(ranges, rows.begin, {}, &TokenRange::end);
  return {first, std::ranges::lower_bound(first, ranges.end(), rows.end, {}, &TokenRange::begin)};
}

}  // namespace

StepsInRounds::StepsInRounds(const DocumentMask& mask, const RelayNodes& nodes, Token least_rows, std::vector<double> own_pairs,
                             RelaySteps& result)
    : mask_(mask),
      nodes_(nodes),
      least_rows_(least_rows),
      own_pairs_(std::move(own_pairs)),
      result_(result),
      gateways_(nodes, result) {}

void StepsInRounds::plan(std::span<const RelayDocument> documents) {
  for (const RelayDocument& document : documents) circles_.emplace_back(document);
  const Token rows_of_round = most_entering() / nodes_.full_stages;
  for (RelayCircle& circle : circles_) {
    circle.cut_units(rows_of_round / kUnitsPerRound, least_rows_, nodes_, gateways_);
    circle.add_transfers(nodes_);
  }
  plan_rest_inside(documents);
  set_deadlines();
  std::vector<TransferCircle*> transfers;
  for (RelayCircle& circle : circles_) transfers.push_back(&circle.transfers);
  choose_rounds(transfers, nodes_, rows_of_round);
  for (const RelayCircle& circle : circles_) {
    const std::vector<UnitTransfer>& of_circle = circle.transfers.transfers;
    for (std::size_t i = 0; i < of_circle.size(); ++i) {
      take(circle, of_circle[i]);
      if (i + 1 == of_circle.size() || of_circle[i + 1].taker != of_circle[i].taker)
        gateways_.pass_on(*circle.places()[of_circle[i].taker].node);
    }
  }
}

void StepsInRounds::plan_rest_inside(std::span<const RelayDocument> documents) {
  std::vector<TokenRange> rest;
  std::vector<std::vector<TokenRange>> leave(nodes_.node_of_group.size());  // [group] by whose NIC: those that it needs
  for (const ArrivalRows& come : result_.coming)
    if (RelayNodes::store_of(come.arrival) == Store::needed) leave[nodes_.group_of(come.arrival)].push_back(come.rows);
  for (std::vector<TokenRange>& rows : leave) normalise(rows);
  for (const RelayDocument& document : documents)
    for (const RelayDocument::Node& node : document.nodes)
      for (const RelayDocument::Member& to : node.members) {
        const Ranges leaving = reaching(leave[static_cast<std::size_t>(to.group)],
                                        {document.pieces.front().rows.begin, document.pieces.back().rows.end});
        for (const RelayDocument::Member& from : node.members) {
          if (from.group == to.group) continue;
          rest.clear();
          Token total = 0;
          for (const TokenRange& held : from.rows)
            for_each_common(held, to.needs, [&](const TokenRange& needed) {
              for_each_gap(needed, leaving, [&](const TokenRange& range) { rest.push_back(range), total += range.size(); });
            });
          StageCounter counter(total, nodes_.inside_stages - 1, least_rows_);
          for (const TokenRange& rows : rest)
            counter.split(rows, [&](int which, const TokenRange& part) {
              const int stage = nodes_.stage_inside(which + 1);
              result_.add({.stage = stage, .hop = Hop::inside, .from = from.group}, to.group, part);
              result_.coming.push_back({nodes_.arrival(to.group, stage, Store::needed), part});
            });
        }
      }
}

Token StepsInRounds::most_entering() const {
  std::vector<Token> rows(static_cast<std::size_t>(nodes_.nodes()));
  for (const RelayCircle& circle : circles_)
    for (const RelayCircle::Place& place : circle.places())
      for (const TokenRange& range : place.lacks) rows[static_cast<std::size_t>(place.node->node)] += range.size();
  return *std::max_element(rows.begin(), rows.end());
}

void StepsInRounds::set_deadlines() {
  struct Coming {
    int group;
    std::size_t distance;
    double pairs;
    long yield;  // 2 log2 of pairs for a row, rounded
    UnitTransfer* transfer;
  };
  std::vector<Coming> coming;
  for (RelayCircle& circle : circles_)
    for (UnitTransfer& transfer : circle.transfers.transfers) {
      transfer.deadline = std::numeric_limits<double>::infinity();
      const RelayCircle::Place& taker = circle.places()[transfer.taker];
      const std::span<const HeldRows> unit = circle.pieces_of(transfer.unit);
      const auto rows = static_cast<double>(common_rows(unit, taker.lacks));
      const std::size_t first = coming.size();
      double of_node = 0;
      for (const RelayDocument::Member& member : taker.node->members) {
        const double pairs = pairs_with(mask_, circle.document(), member, unit);
        if (pairs > 0) coming.push_back({member.group, transfer.distance, pairs, 0, &transfer});
        of_node += pairs;
      }
      for (std::size_t i = first; i < coming.size(); ++i)
        coming[i].yield = std::lround(std::log2(coming[i].pairs * of_node / (rows * rows)));
    }
  std::stable_sort(coming.begin(), coming.end(), [](const Coming& a, const Coming& b) {
    return std::tie(a.group, b.yield, a.distance) < std::tie(b.group, a.yield, b.distance);
  });
  double pairs = 0;
  for (std::size_t i = 0; i < coming.size(); ++i) {
    if (i == 0 || coming[i].group != coming[i - 1].group) pairs = own_pairs_[static_cast<std::size_t>(coming[i].group)];
    coming[i].transfer->deadline = std::min(coming[i].transfer->deadline, pairs);
    pairs += coming[i].pairs;
  }
}

void StepsInRounds::take(const RelayCircle& circle, const UnitTransfer& transfer) {
  const RelayCircle::Place& taker = circle.places()[transfer.taker];
  const RelayCircle::Place& source = circle.places()[transfer.source];
  const bool from_holder = transfer.source == circle.transfers.before(transfer.taker, transfer.distance);
  const bool by_all_nics = circle.is_striped(transfer.unit);
  for (const HeldRows& piece : circle.pieces_of(transfer.unit)) {
    if (!intersects(piece.rows, taker.lacks)) continue;
    const int position = nodes_.position(piece.group);
    const auto enter = [&](const HeldRows& held) {
      for_each_common(held.rows, taker.lacks, [&](const TokenRange& rows) {
        gateways_.enter(*taker.node, {rows, held.group, held.stage, held.store}, piece.rows, position, by_all_nics,
                        nodes_.stage_of_round(transfer.round));
      });
    };
    if (from_holder)
      enter(piece);
    else
      gateways_.find_gateway(*source.node, piece.rows, piece.rows, position, by_all_nics,
                             [&](const TokenRange& rows, int group, Store store) {
                               enter({rows, group, nodes_.stage_of_round(transfer.source_round), store});
                             });
  }
}

}  // namespace hsap
