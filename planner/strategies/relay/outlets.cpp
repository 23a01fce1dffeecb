#include "planner/strategies/relay/outlets.hpp"

#include <algorithm>

namespace hsap {

namespace {

/// A group that has this many times the share of the busiest NICs to send passes some of it on, if that share is worth a
/// message.
constexpr double kTooMuch = 1.25;

}  // namespace

OutletChooser::OutletChooser(const RelayNodes& nodes, Token least_rows)
    : nodes_(nodes),
      least_rows_(std::max<Token>(1, least_rows)),
      held_(nodes.node_of_group.size()),
      load_(nodes.node_of_group.size()),
      kept_(nodes.node_of_group.size()),
      wanted_(nodes.node_of_group.size()),
      leaving_node_(static_cast<std::size_t>(nodes.nodes())),
      entering_node_(static_cast<std::size_t>(nodes.nodes())) {}

void OutletChooser::add(std::span<const HeldPiece> pieces, std::span<const RelayDocument::Node> nodes) {
  elsewhere_.assign(nodes.size(), 0);
  for (const HeldPiece& piece : pieces) {
    const int node = nodes_.node(piece.group);
    Token copies = 0, rows = 0;
    needed_.clear();
    for (std::size_t other = 0; other < nodes.size(); ++other) {
      if (nodes[other].node == node || !reach({&piece.rows, 1}, nodes[other].needs)) continue;
      Token entering = 0;
      for_each_common(piece.rows, nodes[other].needs, [&](const TokenRange& common) {
        const bool known = !needed_.empty() && needed_.back().begin <= common.begin && common.end <= needed_.back().end;
        if (!known) needed_.push_back(common);
        entering += common.size();
      });
      copies += entering;
      entering_node_[static_cast<std::size_t>(nodes[other].node)] += static_cast<double>(entering);
      const int same = nodes_.first(nodes[other].node) + nodes_.position(piece.group);
      const bool needs = !nodes[other].needs_of_group(same).empty();
      (needs ? wanted_[static_cast<std::size_t>(same)] : elsewhere_[other]) += static_cast<double>(entering);
    }
    if (copies == 0) continue;
    normalise(needed_);
    for (const TokenRange& range : needed_) rows += range.size();
    const double weight = static_cast<double>(copies) / static_cast<double>(rows);
    for (const TokenRange& range : needed_) leaving_.push_back({range, piece.group, weight});
    held(piece.group) += static_cast<double>(copies);
    leaving_node_[static_cast<std::size_t>(node)] += static_cast<double>(copies);
  }
  for (std::size_t node = 0; node < nodes.size(); ++node)
    if (elsewhere_[node] > 0) share_among_needing(nodes[node].members, elsewhere_[node]);
}

void OutletChooser::share_among_needing(std::span<const RelayDocument::Member> members, double rows) {
  const auto needs = [](const RelayDocument::Member& member) { return !member.needs.empty(); };
  const auto needing = static_cast<double>(std::ranges::count_if(members, needs));
  for (const RelayDocument::Member& member : members)
    if (needs(member)) wanted_[static_cast<std::size_t>(member.group)] += rows / needing;
}

bool OutletChooser::is_too_much_for(std::span<const RelayDocument::Member> members) const {
  return std::any_of(members.begin(), members.end(), [&](const RelayDocument::Member& member) {
    return !member.needs.empty() && wanted_[static_cast<std::size_t>(member.group)] > share_;
  });
}

const std::vector<Outlet>& OutletChooser::choose() {
  for (int node = 0; node < nodes_.nodes(); ++node) {
    const auto n = static_cast<std::size_t>(node);
    share_ = std::max(share_, std::max(leaving_node_[n], entering_node_[n]) / nodes_.groups(node));
  }
  for (std::size_t group = 0; group < held_.size(); ++group) {
    const bool keeps_all = !has_too_much(static_cast<int>(group));
    load_[group] = keeps_all ? held_[group] : share_;
    kept_[group] = keeps_all ? 0 : share_;
  }
  for (const Leaving& leaving : leaving_) {
    if (has_too_much(leaving.holder))
      spread(leaving);
    else
      outlets_.push_back({leaving.rows, leaving.holder, leaving.holder});
  }
  return outlets_;
}

bool OutletChooser::has_too_much(int group) {
  return held(group) > kTooMuch * share_ && share_ >= static_cast<double>(least_rows_);
}

void OutletChooser::spread(Leaving leaving) {
  TokenRange& rows = leaving.rows;
  double& kept = kept_[static_cast<std::size_t>(leaving.holder)];
  for (int exit = leaving.holder; rows.size() > 0; exit = emptiest(leaving.holder)) {
    const double room = exit == leaving.holder ? kept : std::max(0.0, share_ - load(exit));
    Token taken = std::min(rows.size(), static_cast<Token>(room / leaving.weight));
    if (exit != leaving.holder) taken = std::min(rows.size(), std::max(taken, least_rows_));
    if (rows.size() - taken < least_rows_ || load(emptiest(leaving.holder)) >= share_) taken = rows.size();
    if (taken > 0) outlets_.push_back({{rows.begin, rows.begin + taken}, leaving.holder, exit});
    const double sent = static_cast<double>(taken) * leaving.weight;
    if (exit == leaving.holder)
      kept = std::max(0.0, kept - sent);
    else
      load(exit) += sent;
    rows.begin += taken;
  }
}

int OutletChooser::emptiest(int holder) {
  const int node = nodes_.node(holder);
  int best = holder;
  for (int group = nodes_.first(node); group < nodes_.first(node + 1); ++group)
    if (group != holder && (best == holder || load(group) < load(best))) best = group;
  return best;
}

}  // namespace hsap
