#include "planner/strategies/relay/document.hpp"

#include <algorithm>
#include <tuple>

namespace hsap {

namespace {

/// The ranges of `all` from [first] on.
Ranges from(const std::vector<TokenRange>& all, std::size_t first) { return Ranges(all).subspan(first); }

}  // namespace

RelayDocument::RelayDocument(const DocumentMask& mask, const RelayNodes& nodes)
    : mask_(mask), nodes_(nodes), member_of_group_(nodes.node_of_group.size(), kNone) {}

void RelayDocument::read(std::span<const HeldPiece> pieces) {
  for (const Member& member : members_) member_of_group_[static_cast<std::size_t>(member.group)] = kNone;
  pieces_ = pieces;
  find_members();
  find_nodes();
}

void RelayDocument::find_members() {
  by_group_.assign(pieces_.begin(), pieces_.end());
  std::sort(by_group_.begin(), by_group_.end(), [](const HeldPiece& a, const HeldPiece& b) {
    return std::tie(a.group, a.rows.begin) < std::tie(b.group, b.rows.begin);
  });
  members_.clear(), rows_.clear(), needs_.clear();
  members_.reserve(pieces_.size()), rows_.reserve(pieces_.size());
  needs_.reserve(3 * pieces_.size());  // a piece sees keys in two ranges at most, and cuts one of its group's in two
  for (std::size_t i = 0; i < by_group_.size();) {
    const int group = by_group_[i].group;
    const std::size_t first_row = rows_.size(), first_need = needs_.size();
    together_.clear();
    for (; i < by_group_.size() && by_group_[i].group == group; ++i) {
      rows_.push_back(by_group_[i].rows);
      const VisibleKeys keys = mask_.keys_seen_by(by_group_[i].document, by_group_[i].rows);
      together_.push_back(keys.sinks), together_.push_back(keys.main);
    }
    normalise(together_);
    const Ranges rows = from(rows_, first_row);
    for (const TokenRange& keys : together_) for_each_gap(keys, rows, [&](const TokenRange& gap) { needs_.push_back(gap); });
    member_of_group_[static_cast<std::size_t>(group)] = static_cast<int>(members_.size());
    members_.push_back({group, rows, from(needs_, first_need)});
  }
}

void RelayDocument::find_nodes() {
  document_nodes_.clear(), node_needs_.clear();
  node_needs_.reserve(needs_.size());
  for (std::size_t begin = 0, end = 0; begin < members_.size(); begin = end) {
    const int node = nodes_.node(members_[begin].group);
    together_.clear();
    for (; end < members_.size() && nodes_.node(members_[end].group) == node; ++end)
      together_.insert(together_.end(), members_[end].needs.begin(), members_[end].needs.end());
    normalise(together_);
    const std::size_t first_need = node_needs_.size();
    node_needs_.insert(node_needs_.end(), together_.begin(), together_.end());
    document_nodes_.push_back({node, std::span(members_).subspan(begin, end - begin), from(node_needs_, first_need)});
  }
}

}  // namespace hsap
