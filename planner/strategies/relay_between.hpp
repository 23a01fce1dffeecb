// The steps of a document's rows between nodes. Either each node takes what it needs from the nodes that hold it; or, by
// doubling, nodes pass on what came to them.
//
// By doubling: the document's nodes, n of them, in the order of the last row that each holds, form a circle. In step l each
// node takes from the one 2^l places before it what it lacks and that one has, its own rows or rows that came to it in earlier
// steps; in the last step it takes from their holders what it still lacks. Under a causal mask, whose nodes need all rows
// before theirs, node i has the rows of the 2^l nodes before it after step l - 1, and no node sends to more than one other at a
// time: the doubling all-gather of Bruck et al. (1997, "Efficient algorithms for all-to-all communications in multiport
// message-passing systems", IEEE TPDS 8(11)). The stages are shared out over the steps by the rows that they move, 2^l nodes'
// worth at most.
#pragma once

#include <span>
#include <vector>

#include "planner/strategies/relay_document.hpp"
#include "planner/strategies/relay_gateways.hpp"
#include "planner/strategies/relay_outlets.hpp"
#include "planner/strategies/relay_steps.hpp"

namespace hsap {

class StepsBetween {
 public:
  StepsBetween(const RelayNodes& nodes, Token least_rows, RelaySteps& result);

  void plan(const RelayDocument& document);

 private:
  using Node = RelayDocument::Node;

  /// A node of the circle.
  struct Place {
    const Node* node = nullptr;
    std::span<const HeldRows> own;  ///< rows of the node that others need
    std::vector<HeldRows> landed;   ///< rows of others that came
    std::size_t landed_before = 0;  ///< of them, before the step at hand
    std::vector<TokenRange> lacks;  ///< that have not come
  };

  /// Rows that other nodes need, and where they leave. Those that leave from another group than their holder come to it inside
  /// the node first.
  void find_sources(const RelayDocument& document);

  void take_from_holders(const RelayDocument& document);
  void pass_on_by_doubling(const RelayDocument& document);
  void make_circle(const RelayDocument& document);
  /// Into coming_: what `place` lacks and `from` has; in the last step, all that it lacks.
  void find_coming(const Place& place, const Place& from, bool last);
  static void remove(std::span<const HeldRows> rows, std::vector<TokenRange>& lacks);

  /// The rows of coming_ enter a node in the stages first_stage .. first_stage + stages - 1 of those between nodes.
  /// `senders` = members of the node that passes rows on.
  void land(const RelayDocument& document, const Node& node, std::span<const RelayDocument::Member> senders, int first_stage,
            int stages);
  /// Rows that all of the members which need them have: from which of them they leave, the one at `first` before those after
  /// it. Into leaving_.
  void find_exits(const HeldRows& held, std::span<const RelayDocument::Member> members, std::size_t first);

  const RelayNodes& nodes_;
  const Token least_rows_;
  RelaySteps& result_;
  OutletChooser outlets_;
  Gateways gateways_;
  std::vector<HeldRows> sources_;  // of the document at hand, ascending; as are the following
  std::vector<HeldRows> by_node_;  // the same, node by node
  std::vector<Place> circle_;
  std::vector<HeldRows> coming_, leaving_;
  std::vector<TokenRange> left_, still_left_;
};

}  // namespace hsap
