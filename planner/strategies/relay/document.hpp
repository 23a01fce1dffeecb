// Who holds and who needs which rows of one cut document, group by group and node by node: what its steps are planned from.
#pragma once

#include <span>
#include <vector>

#include "planner/ir/document_mask.hpp"
#include "planner/strategies/relay/cut_documents.hpp"
#include "planner/strategies/relay/nodes.hpp"
#include "planner/strategies/relay/range_parts.hpp"

namespace hsap {

class RelayDocument {
 public:
  /// A group that holds rows of the document.
  struct Member {
    int group = 0;
    Ranges rows;   ///< that it holds
    Ranges needs;  ///< keys that its rows see and it does not hold
  };

  /// A node that holds rows of the document.
  struct Node {
    int node = 0;
    std::span<const Member> members;
    Ranges needs;  ///< of all members, some of which may be held by others of them; normalised
  };

  RelayDocument(const DocumentMask& mask, const RelayNodes& nodes);

  /// The next document, of which these are all pieces, in token order. What was handed out before is no longer valid.
  void read(std::span<const HeldPiece> pieces);

  std::span<const HeldPiece> pieces() const { return pieces_; }
  std::span<const Node> nodes() const { return document_nodes_; }  ///< ascending
  /// Keys that some row of a range of the document sees.
  VisibleKeys keys_seen_by(TokenRange rows) const { return mask_.keys_seen_by(pieces_.front().document, rows); }
  /// Empty for a group that holds none of its rows.
  Ranges needs_of_group(int group) const {
    const int member = member_of_group_[static_cast<std::size_t>(group)];
    return member == kNone ? Ranges{} : members_[static_cast<std::size_t>(member)].needs;
  }

 private:
  static constexpr int kNone = -1;

  void find_members();
  void find_nodes();

  const DocumentMask& mask_;
  const RelayNodes& nodes_;
  std::span<const HeldPiece> pieces_;
  std::vector<HeldPiece> by_group_;
  std::vector<Member> members_;
  std::vector<Node> document_nodes_;
  std::vector<int> member_of_group_;
  std::vector<TokenRange> rows_, needs_, node_needs_;  // what members and nodes refer to: room is made before they are filled
  std::vector<TokenRange> together_;                   // keys that a member sees, or needs of the members of a node
};

}  // namespace hsap
