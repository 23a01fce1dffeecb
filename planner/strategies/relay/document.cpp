#include "planner/strategies/relay/document.hpp"

#include <tuple>

namespace hsap {

namespace {

/// The elements from [first] on.
template <class Element>
std::span<const Element> from(const std::vector<Element>& all, std::size_t first) {
  return std::span(all).subspan(first);
}

}  // namespace

RelayDocuments::RelayDocuments(const DocumentMask& mask, const RelayNodes& nodes, std::span<const HeldPiece> pieces)
    : mask_(mask), nodes_(nodes) {
  members_.reserve(pieces.size()), document_nodes_.reserve(pieces.size()), rows_.reserve(pieces.size());
  needs_.reserve(3 * pieces.size());  // a piece sees keys in two ranges at most, and cuts one of its group's in two
  node_needs_.reserve(needs_.capacity());
  for (std::size_t first = 0, last = 0; first < pieces.size(); first = last) {
    while (last < pieces.size() && pieces[last].document == pieces[first].document) ++last;
    read(pieces.subspan(first, last - first));
  }
}

void RelayDocuments::read(std::span<const HeldPiece> pieces) {
  const std::span<const RelayDocument::Member> members = find_members(pieces);
  documents_.push_back({pieces, members, find_nodes(members)});
}

std::span<const RelayDocument::Member> RelayDocuments::find_members(std::span<const HeldPiece> pieces) {
  by_group_.assign(pieces.begin(), pieces.end());
  std::sort(by_group_.begin(), by_group_.end(), [](const HeldPiece& a, const HeldPiece& b) {
    return std::tie(a.group, a.rows.begin) < std::tie(b.group, b.rows.begin);
  });
  const std::size_t first_member = members_.size();
  for (std::size_t i = 0; i < by_group_.size();) {
    const int group = by_group_[i].group;
    const std::size_t first_row = rows_.size(), first_need = needs_.size();
    together_.clear();
    for (; i < by_group_.size() && by_group_[i].group == group; ++i) {
      rows_.push_back(by_group_[i].rows);
      const VisibleKeys keys = mask_.keys_seen_by(by_group_[i].document, by_group_[i].rows);
      for (const TokenRange& seen : {keys.sinks, keys.main})
        if (seen.size() > 0) together_.push_back(seen);
    }
    normalise(together_);
    const Ranges rows = from(rows_, first_row);
    for (const TokenRange& keys : together_) for_each_gap(keys, rows, [&](const TokenRange& gap) { needs_.push_back(gap); });
    members_.push_back({group, rows, from(needs_, first_need)});
  }
  return from(members_, first_member);
}

std::span<const RelayDocument::Node> RelayDocuments::find_nodes(std::span<const RelayDocument::Member> members) {
  const std::size_t first_node = document_nodes_.size();
  for (std::size_t begin = 0, end = 0; begin < members.size(); begin = end) {
    const int node = nodes_.node(members[begin].group);
    together_.clear();
    for (; end < members.size() && nodes_.node(members[end].group) == node; ++end)
      together_.insert(together_.end(), members[end].needs.begin(), members[end].needs.end());
    normalise(together_);
    const std::size_t first_need = node_needs_.size();
    node_needs_.insert(node_needs_.end(), together_.begin(), together_.end());
    document_nodes_.push_back({node, members.subspan(begin, end - begin), from(node_needs_, first_need)});
  }
  return from(document_nodes_, first_node);
}

}  // namespace hsap
