// The steps of rows between nodes in rounds (round_schedule.hpp), of all documents together. Nodes pass on what came to them,
// so that a node whose rows all others need does not send them to each.
//
// A document's nodes stand in the circle in the order of the last row that each holds; under a causal mask those before a node
// hold what it needs. A unit leaves and enters nodes by all their NICs, or by as many as get a part worth a message, each part
// always by those in the same position. Who has computed all that it could needs rows most urgently: deadlines are the pairs
// that a node can compute before.
#pragma once

#include <deque>
#include <span>
#include <vector>

#include "planner/strategies/relay_document.hpp"
#include "planner/strategies/relay_gateways.hpp"
#include "planner/strategies/round_schedule.hpp"

namespace hsap {

class StepsInRounds {
 public:
  /// `own_pairs` = [group] pairs of its rows with those of its node.
  StepsInRounds(const RelayNodes& nodes, Token least_rows, std::vector<double> own_pairs, RelaySteps& result);

  /// The documents stay where they are.
  void plan(const std::deque<RelayDocument>& documents);

 private:
  /// A node of a circle.
  struct Place {
    const RelayDocument::Node* node = nullptr;
    std::vector<TokenRange> lacks;          ///< rows of other nodes that it needs
    Token rows = 0;                         ///< that it holds
    std::size_t first_unit = 0, units = 0;  ///< of rows that it holds and others need
  };
  struct Circle {
    const RelayDocument* document = nullptr;
    std::vector<Place> places;
    std::vector<HeldRows> pieces;          ///< of all units, at their exits
    std::vector<std::size_t> first_piece;  ///< [unit], and the number of pieces
    std::span<const HeldRows> pieces_of(std::size_t unit) const {
      return std::span(pieces).subspan(first_piece[unit], first_piece[unit + 1] - first_piece[unit]);
    }
  };

  /// Rows that enter the node into which most do.
  Token most_entering() const;
  void add_circle(const RelayDocument& document);
  void make_units(Circle& circle, TransferCircle& transfers, Token unit_rows);
  /// Into leaving_: rows of the place that others need, cut where other nodes begin to need them.
  void find_leaving(const Place& place);
  void add_units(Circle& circle, TransferCircle& transfers, std::span<const HeldRows> leaving, Token unit_rows);
  void add_unit(Circle& circle, TransferCircle& transfers);
  void add_transfers(const Circle& circle, TransferCircle& transfers) const;
  void set_deadlines();
  /// The steps of all transfers of a circle.
  void take(const Circle& circle, const TransferCircle& transfers);
  void take(const Circle& circle, const TransferCircle& transfers, const UnitTransfer& transfer);

  const RelayNodes& nodes_;
  const Token least_rows_;
  const std::vector<double> own_pairs_;
  Gateways gateways_;
  std::vector<Circle> circles_;
  std::vector<TransferCircle> transfers_;  // [circle]
  std::vector<HeldRows> leaving_, unit_;   // of a node, of a unit
  std::vector<TokenRange> needed_;         // of a circle, by any of its places
  std::vector<Token> borders_;             // ascending: of what each place lacks
};

}  // namespace hsap
