// By whose NIC rows leave a node. A group sends its own rows; where one holds most of what other nodes need of a document,
// parts of it go over the island to groups with less to send, so that all NICs of the node work. Gradients come back the same
// way.
#pragma once

#include <span>
#include <vector>

#include "planner/strategies/relay_document.hpp"

namespace hsap {

/// Rows of one document that leave their node from `exit`, a group of the node of `holder`, which holds them.
struct Outlet {
  TokenRange rows;
  int holder = 0;
  int exit = 0;
};

class OutletChooser {
 public:
  /// Parts of fewer than `least_rows` rows stay where they are, and all rows where equal shares would be smaller.
  OutletChooser(const RelayNodes& nodes, Token least_rows);

  /// Outlets of all rows of a document that some other node needs, in token order; valid until the next call. `pieces` = those
  /// of the document, in token order; `nodes` = what its nodes need, whose own rows count for nothing. O(pieces x needs of
  /// nodes + outlets).
  const std::vector<Outlet>& choose(std::span<const HeldPiece> pieces, std::span<const RelayDocument::Node> nodes);

 private:
  struct Leaving {
    TokenRange rows;
    int holder;
    double weight;  ///< of a row: how many nodes need it, on average over the piece
  };

  double& held(int group) { return held_[static_cast<std::size_t>(group)]; }
  double& load(int group) { return load_[static_cast<std::size_t>(group)]; }
  /// An equal share of what leaves a node.
  double quota(int node) const;
  bool has_too_much(int group);
  void find_leaving(std::span<const HeldPiece> pieces, std::span<const RelayDocument::Node> nodes);
  /// The outlets of rows whose holder has more than its share to send.
  void spread(Leaving rows);
  /// The other group of the node that sends least.
  int emptiest(int holder);

  const RelayNodes& nodes_;
  const Token least_rows_;
  std::vector<Leaving> leaving_;
  std::vector<TokenRange> needed_;   // of the piece at hand
  std::vector<double> held_, load_;  // [group] copies of rows that leave the node: of those that it holds, and that it sends
  std::vector<double> total_;        // [node] all of them
  std::vector<Outlet> outlets_;
};

}  // namespace hsap
