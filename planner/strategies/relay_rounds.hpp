// The steps of a document's rows between nodes in rounds, in which no node sends, or takes in, more than others have time for.
// Nodes pass on what came to them, so that a node whose rows all others need does not send them to each.
//
// The document's nodes, in the order of the last row that each holds, form a circle; rows leave a node in units. Each unit goes
// to those who need it in the order of their places after its holder: from the holder, or from one of the nodes 2^l places
// before the taker that has it by then, whichever is possible in the earliest round in which both have room. Where holders are
// idle that is the exchange without passing on; where one is not, it becomes the doubling broadcast. (Our own design: list
// scheduling of single-port transfers; every round is a matching of senders and takers as edge colouring would make, but for
// those that fit in together.) A unit enters and leaves by all NICs of a node, each part of it always by those in the same
// position.
#pragma once

#include <span>
#include <vector>

#include "planner/strategies/relay_document.hpp"
#include "planner/strategies/relay_gateways.hpp"
#include "planner/strategies/round_loads.hpp"

namespace hsap {

class StepsInRounds {
 public:
  /// `entering` = rows that the node into which most come takes in, of all documents.
  StepsInRounds(const RelayNodes& nodes, Token least_rows, Token entering, RelaySteps& result);

  void plan(const RelayDocument& document);

 private:
  /// A node of the circle.
  struct Place {
    const RelayDocument::Node* node = nullptr;
    std::vector<TokenRange> lacks;          ///< rows of other nodes that it needs
    std::size_t first_unit = 0, units = 0;  ///< rows of its own that others need
  };
  /// Rows that are together where they are.
  struct Unit {
    std::size_t first = 0, count = 0;  ///< of pieces_
    Token rows = 0;
    int nics = 1;  ///< by which it leaves a node and enters others
  };
  /// Where a unit, or a part of it, is in a node that took it in.
  struct Landed {
    std::size_t first = 0, count = 0;  ///< of pieces_
    Token rows = 0;
    int round = 0;
  };

  void make_circle(const RelayDocument& document);
  /// Rows that leave a node, in units; those that leave from another group than their holder come to it inside the node first.
  void make_units(const RelayDocument& document, Place& place, Ranges needed);
  void close_unit(const RelayDocument& document, std::span<const HeldRows> all);
  /// Parts of the pieces that a place lacks, into coming_. Returns their rows.
  Token find_coming(std::size_t first, std::size_t count, const Place& place);
  /// The unit of the node `distance` places before comes to a place.
  void take(const RelayDocument& document, std::size_t place, std::size_t distance, std::size_t unit);
  Landed& landed(std::size_t place, std::size_t unit) { return landed_[place * units_.size() + unit]; }

  const RelayNodes& nodes_;
  const Token least_rows_;
  const Token unit_rows_;
  RelaySteps& result_;
  Gateways gateways_;
  RoundLoads loads_;
  std::vector<Place> circle_;  // of the document at hand, as are the following
  std::vector<Unit> units_;
  std::vector<HeldRows> pieces_;
  std::vector<Landed> landed_;  // [place][unit]
  std::vector<HeldRows> leaving_, coming_;
  std::vector<TokenRange> needed_, held_;
};

}  // namespace hsap
