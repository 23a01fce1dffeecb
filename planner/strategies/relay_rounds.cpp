#include "planner/strategies/relay_rounds.hpp"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

namespace hsap {

namespace {

/// Units in a round: smaller ones fill rounds better, and make more messages.
constexpr Token kUnitsPerRound = 2;

}  // namespace

StepsInRounds::StepsInRounds(const RelayNodes& nodes, Token least_rows, std::vector<double> own_pairs, RelaySteps& result)
    : nodes_(nodes), least_rows_(least_rows), own_pairs_(std::move(own_pairs)), gateways_(nodes, result) {}

void StepsInRounds::plan(const std::deque<RelayDocument>& documents) {
  for (const RelayDocument& document : documents) circles_.emplace_back(document);
  const Token rows_of_round = most_entering() / nodes_.full_stages;
  for (RelayCircle& circle : circles_) {
    circle.cut_units(rows_of_round / kUnitsPerRound, least_rows_, nodes_, gateways_);
    circle.add_transfers(nodes_);
  }
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
    UnitTransfer* transfer;
  };
  std::vector<Coming> coming;
  for (RelayCircle& circle : circles_)
    for (UnitTransfer& transfer : circle.transfers.transfers) {
      transfer.deadline = std::numeric_limits<double>::infinity();
      for (const RelayDocument::Member& member : circle.places()[transfer.taker].node->members) {
        const Token needed = common_rows(circle.pieces_of(transfer.unit), member.needs);
        if (needed == 0) continue;
        Token held = 0;
        for (const TokenRange& range : member.rows) held += range.size();
        coming.push_back({member.group, transfer.distance, static_cast<double>(needed) * static_cast<double>(held), &transfer});
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
        gateways_.enter(circle.document(), *taker.node, {rows, held.group, held.stage, held.store}, piece.rows, position,
                        by_all_nics, nodes_.inside_stages + transfer.round);
      });
    };
    if (from_holder)
      enter(piece);
    else
      gateways_.find_gateway(circle.document(), *source.node, piece.rows, piece.rows, position, by_all_nics,
                             [&](const TokenRange& rows, int group, Store store) {
                               enter({rows, group, nodes_.inside_stages + transfer.source_round, store});
                             });
  }
}

}  // namespace hsap
