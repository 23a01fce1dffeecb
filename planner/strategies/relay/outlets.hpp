// By whose NICs rows leave a node, and where they may enter one. A group sends its own rows, and rows enter where they are
// needed, as long as that takes the busiest NIC no longer than it takes the NICs of the busiest node in any case, over all
// documents. What is too much for one group goes over the island, to or from others of its node. Gradients take the same ways
// back.
#pragma once

#include <span>
#include <vector>

#include "planner/strategies/relay/document.hpp"

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

  /// A document: its pieces, in token order, and what its nodes need, whose own rows count for nothing. O(pieces x needs of
  /// nodes).
  void add(std::span<const HeldPiece> pieces, std::span<const RelayDocument::Node> nodes);
  /// Once, after all documents were added: outlets of all rows that some other node needs, in token order. O(outlets x groups
  /// of a node).
  const std::vector<Outlet>& choose();
  /// After that: whether some of the members would take in more than the share of the busiest NICs, about, if rows entered
  /// nodes where they are needed. A member counts for all rows that come from its position if it needs any of the document.
  bool is_too_much_for(std::span<const RelayDocument::Member> members) const;

 private:
  struct Leaving {
    TokenRange rows;
    int holder;
    double weight;  ///< of a row: how many nodes need it, on average over the piece
  };

  double& held(int group) { return held_[static_cast<std::size_t>(group)]; }
  double& load(int group) { return load_[static_cast<std::size_t>(group)]; }
  bool has_too_much(int group);
  void share_among_needing(std::span<const RelayDocument::Member> members, double rows);
  /// The outlets of rows whose holder has more than its share to send.
  void spread(Leaving rows);
  /// The other group of the node that sends least.
  int emptiest(int holder);

  const RelayNodes& nodes_;
  const Token least_rows_;
  std::vector<Leaving> leaving_;     // of all documents
  std::vector<double> elsewhere_;    // [node of the document at hand] rows that no group in the position of their holder needs
  std::vector<TokenRange> needed_;   // of the piece at hand
  std::vector<double> held_, load_;  // [group] copies of rows that leave the node: of those that it holds, and that it sends
  std::vector<double> kept_;         // [group] that has too much: what is left of the share that it sends itself
  std::vector<double> wanted_;       // [group] rows that enter at it, if rows enter nodes where they are needed
  std::vector<double> leaving_node_, entering_node_;  // [node] all of them, and copies that come to it
  double share_ = 0;                                  // a NIC's equal share of what leaves or enters its node, the largest
  std::vector<Outlet> outlets_;
};

}  // namespace hsap
