// How rows of a document enter a node, each at one group of it, its gateway, and get to the groups that need them.
#pragma once

#include <vector>

#include "planner/strategies/relay_document.hpp"
#include "planner/strategies/relay_steps.hpp"

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
  Gateways(const RelayNodes& nodes, RelaySteps& result) : nodes_(nodes), result_(result) {}

  /// What follows is about rows of the document that this node needs. They enter through all its NICs, or where they are
  /// needed. Both must stay where they are until the next begin().
  void begin(const RelayDocument& document, const RelayDocument::Node& node, bool by_all_nics);
  /// Rows enter in a stage, those of a stage in token order, from a group of another node.
  void enter(const HeldRows& held, int stage);
  /// What entered in the stage goes to the other members of the node.
  void pass_on(int stage);
  /// What entered since begin(), at its gateways.
  const std::vector<HeldRows>& landed() const { return landed_; }

 private:
  /// The group that takes in rows which come from `group`: the one in the position of that group if it needs some of them, or
  /// if enough enters to use all NICs; else one that needs some, so that the way ends there when nobody else does.
  int gateway(int group, const TokenRange& rows);
  void pass_on(int position, int stage, Store store);
  /// Rows that came in at a position of the node and are not passed on yet.
  std::vector<TokenRange>& entered(int position, int stage, Store store) {
    return entered_[nodes_.arrival(position, stage, store)];
  }

  const RelayNodes& nodes_;
  RelaySteps& result_;
  const RelayDocument* document_ = nullptr;
  const RelayDocument::Node* node_ = nullptr;
  bool by_all_nics_ = false;
  std::vector<std::vector<TokenRange>> entered_;
  std::vector<HeldRows> landed_;
  std::vector<int> needing_;
};

}  // namespace hsap
