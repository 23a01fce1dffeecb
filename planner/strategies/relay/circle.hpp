// The nodes of a document in the order of the last row that each holds, a circle, and the units in which its rows go from one
// to another (round_schedule.hpp). Under a causal mask the nodes before a node hold what it needs.
#pragma once

#include <span>
#include <vector>

#include "planner/strategies/relay/document.hpp"
#include "planner/strategies/relay/gateways.hpp"
#include "planner/strategies/relay/round_schedule.hpp"

namespace hsap {

class RelayCircle {
 public:
  /// A node.
  struct Place {
    const RelayDocument::Node* node = nullptr;
    std::vector<TokenRange> lacks;          ///< rows of other nodes that it needs
    std::size_t first_unit = 0, units = 0;  ///< of rows that it holds and others need
  };

  /// The document stays where it is.
  explicit RelayCircle(const RelayDocument& document);

  /// The rows that others need, in units of at most `rows` if they have `least` then, cut where other nodes begin to need them
  /// if that is worth a message of `least` rows. A unit leaves by all NICs of its node, or by as many as get a quarter of
  /// `least` rows: several NICs are done sooner with smaller messages.
  void cut_units(Token rows, Token least, const RelayNodes& nodes, Gateways& gateways);
  /// Each unit to each place that needs some of it, by taker.
  void add_transfers(const RelayNodes& nodes);

  const RelayDocument& document() const { return *document_; }
  const std::vector<Place>& places() const { return places_; }
  /// Rows of a unit at the exits of its node.
  std::span<const HeldRows> pieces_of(std::size_t unit) const {
    return std::span(pieces_).subspan(first_piece_[unit], first_piece_[unit + 1] - first_piece_[unit]);
  }

  /// Whether the unit goes by several NICs of each node.
  bool is_striped(std::size_t unit) const { return is_striped_[unit]; }

  TransferCircle transfers;  ///< of the units; sources and rounds are to be chosen

 private:
  /// Rows of the place that others need, cut at the borders, ascending.
  std::vector<HeldRows> leaving(const Place& place, Ranges needed, std::span<const Token> borders) const;
  void add_units(std::span<const HeldRows> leaving, Token rows, Token least, const RelayNodes& nodes, Gateways& gateways);
  void add_unit(std::span<const HeldRows> unit, Token least, const RelayNodes& nodes, Gateways& gateways);

  const RelayDocument* document_;
  std::vector<Place> places_;
  std::vector<HeldRows> pieces_;
  std::vector<std::size_t> first_piece_{0};  // [unit], and the number of pieces
  std::vector<bool> is_striped_;             // [unit]
};

/// Rows of the pieces that are in the ranges.
Token common_rows(std::span<const HeldRows> pieces, Ranges ranges);

}  // namespace hsap
