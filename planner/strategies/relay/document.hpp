// Who holds and who needs which rows of the documents that are cut, group by group and node by node: what their steps are
// planned from.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "planner/ir/document_mask.hpp"
#include "planner/strategies/relay/cut_documents.hpp"
#include "planner/strategies/relay/nodes.hpp"
#include "planner/strategies/relay/range_parts.hpp"

namespace hsap {

/// One document. Valid as long as the RelayDocuments that it is one of.
struct RelayDocument {
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

    /// Those of one of its groups; empty for a group that holds none of the rows.
    Ranges needs_of_group(int group) const { return needs_of(members, group); }
  };

  std::span<const HeldPiece> pieces;  ///< in token order
  std::span<const Member> members;    ///< by group
  std::span<const Node> nodes;        ///< ascending

  /// Of any group; empty for one that holds none of the rows.
  Ranges needs_of_group(int group) const { return needs_of(members, group); }

 private:
  /// O(log members).
  static Ranges needs_of(std::span<const Member> members, int group) {
    const auto member = std::ranges::lower_bound(members, group, {}, &Member::group);
    return member != members.end() && member->group == group ? member->needs : Ranges{};
  }
};

class RelayDocuments {
 public:
  /// Of `pieces`, in token order, which stay where they are. O(pieces log pieces, and for each member its key ranges
  /// x its rows).
  RelayDocuments(const DocumentMask& mask, const RelayNodes& nodes, std::span<const HeldPiece> pieces);
  RelayDocuments(const RelayDocuments&) = delete;
  RelayDocuments& operator=(const RelayDocuments&) = delete;

  std::span<const RelayDocument> all() const { return documents_; }

 private:
  void read(std::span<const HeldPiece> pieces);
  std::span<const RelayDocument::Member> find_members(std::span<const HeldPiece> pieces);
  std::span<const RelayDocument::Node> find_nodes(std::span<const RelayDocument::Member> members);

  const DocumentMask& mask_;
  const RelayNodes& nodes_;
  std::vector<RelayDocument> documents_;
  std::vector<RelayDocument::Member> members_;       // of all documents; here and below room is made before they are filled,
  std::vector<RelayDocument::Node> document_nodes_;  // for others refer to them
  std::vector<TokenRange> rows_, needs_, node_needs_;
  std::vector<HeldPiece> by_group_;   // of the document at hand
  std::vector<TokenRange> together_;  // keys that a member sees, or needs of the members of a node
};

}  // namespace hsap
