// In which round, and from which node, each node takes in what it needs: list scheduling of transfers between nodes, none of
// which sends or takes in more in a round than others have time for. (Our own design. Every round is a matching of senders and
// takers, as edge colouring would make, but for what fits in beside.)
//
// The nodes of a document stand in a circle; its rows go in units. A node takes a unit from its holder, or from one of the last
// nodes that took in these parts of it, whichever is possible in the earliest round in which both have room; of equal ones
// from the one that sends less. Where holders are idle, that is the exchange without passing on; where one has more to send
// than others, others pass its rows on, as in a broadcast tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "planner/ir/token_set.hpp"
#include "planner/strategies/relay/nodes.hpp"

namespace hsap {

/// A node of a circle takes in its part of a unit.
struct UnitTransfer {
  std::size_t unit = 0;
  std::size_t taker = 0;     ///< its place in the circle
  std::size_t distance = 0;  ///< places from the unit's holder to it
  Token load = 0;            ///< most rows that go by one NIC of the holder's node, times its NICs
  std::uint64_t parts = 0;   ///< of the unit, which are these rows, a bit for each; 0: too many to tell, so it is not passed on
  double deadline = 0;       ///< those with the earliest come first
  std::size_t source = 0;    ///< chosen: the place from which it is taken
  int round = 0;             ///< chosen
  int source_round = 0;      ///< in which the source took it in, unless it is the holder
};

struct TransferCircle {
  std::vector<int> nodes;  ///< [place]
  std::size_t units = 0;
  std::vector<UnitTransfer> transfers;

  /// The place so many places before another.
  std::size_t before(std::size_t place, std::size_t distance) const { return (place + nodes.size() - distance) % nodes.size(); }
};

/// Chooses sources and rounds, of which there are nodes.between_stages, each for a `load` in and out of a node, the first two
/// for less, the last one without limit. A source's own round is before that of the transfer from it.
/// O(transfers x (log transfers + rounds)).
void choose_rounds(std::span<TransferCircle* const> circles, const RelayNodes& nodes, Token load);

}  // namespace hsap
