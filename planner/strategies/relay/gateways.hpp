// How rows of a document leave a node, each from one group of it, its exit; how they enter another, each at one group of it,
// its gateway; and how they get from there to the groups that need them.
#pragma once

#include <vector>

#include "planner/strategies/relay/document.hpp"
#include "planner/strategies/relay/steps.hpp"

namespace hsap {

/// Rows where a group has them.
struct HeldRows {
  TokenRange rows;
  int group = 0;
  int stage = 0;  ///< in which it got them; 0 for its own
  Store store = Store::own;
};

class Gateways {
 public:
  Gateways(const RelayNodes& nodes, RelaySteps& result);

  /// Rows of `holder` come to another group of its node, by whose NIC they will leave: adds them to `exits`, in token order.
  /// In rounds they come in the first stage, needed there or not; else those that it needs come anyway.
  void leave(const RelayDocument& document, const TokenRange& rows, int holder, int exit, std::vector<HeldRows>& exits);

  /// Calls visit(part, group, store) for where rows enter a node, as a part of a piece that left its holder's node in a
  /// position: in the same position if the group there needs some of the piece, or if enough enters to use all NICs; else where
  /// somebody needs some, so that the way ends there when nobody else does. All parts of a piece enter at one group.
  /// @pre some group of the node needs some of the piece
  template <class Visit>
  void find_gateway(const RelayDocument::Node& node, const TokenRange& rows, const TokenRange& piece, int position,
                    bool by_all_nics, const Visit& visit) {
    const Gateway to = gateway(node, piece, position, by_all_nics);
    for_each_common(rows, to.needs, [&](const TokenRange& part) { visit(part, to.group, Store::needed); });
    for_each_gap(rows, to.needs, [&](const TokenRange& part) { visit(part, to.group, Store::passing); });
  }

  /// Rows of the piece enter a node in a stage, from where they are in another.
  void enter(const RelayDocument::Node& node, const HeldRows& held, const TokenRange& piece, int position, bool by_all_nics,
             int stage);
  /// What entered the node, since the last time, goes to its other members.
  void pass_on(const RelayDocument::Node& node);

 private:
  struct Gateway {
    int group;
    Ranges needs;
  };
  Gateway gateway(const RelayDocument::Node& node, const TokenRange& piece, int position, bool by_all_nics);
  void pass_on(const RelayDocument::Node& node, int position, int stage, Store store);
  /// Rows that came in at a position of the node and are not passed on yet; in rounds in any order.
  std::vector<TokenRange>& entered(int position, int stage, Store store) {
    return entered_[nodes_.arrival(position, stage, store)];
  }
  /// The same at all positions.
  std::vector<TokenRange>& entered(int stage) { return entered_in_[static_cast<std::size_t>(stage)]; }

  const RelayNodes& nodes_;
  RelaySteps& result_;
  std::vector<std::vector<TokenRange>> entered_, entered_in_;
  std::vector<const RelayDocument::Member*> needing_;
};

}  // namespace hsap
