#include "planner/strategies/relay_outlets.hpp"

#include <algorithm>

namespace hsap {

namespace {

/// A group that has this many times its share of what leaves its node passes some of it on, where shares are worth a message.
constexpr double kTooMuch = 1.25;

}  // namespace

OutletChooser::OutletChooser(const RelayNodes& nodes, Token least_rows)
    : nodes_(nodes),
      least_rows_(std::max<Token>(1, least_rows)),
      held_(nodes.node_of_group.size()),
      load_(nodes.node_of_group.size()),
      total_(static_cast<std::size_t>(nodes.nodes())) {}

double OutletChooser::quota(int node) const {
  return total_[static_cast<std::size_t>(node)] / (nodes_.first(node + 1) - nodes_.first(node));
}

const std::vector<Outlet>& OutletChooser::choose(std::span<const HeldPiece> pieces,
                                                 std::span<const RelayDocument::Node> nodes) {
  find_leaving(pieces, nodes);
  for (const Leaving& leaving : leaving_)
    if (!has_too_much(leaving.holder)) load(leaving.holder) = held(leaving.holder);
  outlets_.clear();
  for (const Leaving& leaving : leaving_) {
    if (has_too_much(leaving.holder))
      spread(leaving);
    else
      outlets_.push_back({leaving.rows, leaving.holder, leaving.holder});
  }
  for (const Leaving& leaving : leaving_) {  // ready for the next document
    const int node = nodes_.node(leaving.holder);
    total_[static_cast<std::size_t>(node)] = held(leaving.holder) = 0;
    std::fill(load_.begin() + nodes_.first(node), load_.begin() + nodes_.first(node + 1), 0.0);
  }
  return outlets_;
}

bool OutletChooser::has_too_much(int group) {
  const double share = quota(nodes_.node(group));
  return held(group) > kTooMuch * share && share >= static_cast<double>(least_rows_);
}

void OutletChooser::find_leaving(std::span<const HeldPiece> pieces, std::span<const RelayDocument::Node> nodes) {
  leaving_.clear();
  for (const HeldPiece& piece : pieces) {
    const int node = nodes_.node(piece.group);
    Token copies = 0, rows = 0;
    needed_.clear();
    for (const RelayDocument::Node& other : nodes) {
      if (other.node == node) continue;
      for_each_common(piece.rows, other.needs, [&](const TokenRange& common) {
        needed_.push_back(common);
        copies += common.size();
      });
    }
    if (copies == 0) continue;
    normalise(needed_);
    for (const TokenRange& range : needed_) rows += range.size();
    const double weight = static_cast<double>(copies) / static_cast<double>(rows);
    for (const TokenRange& range : needed_) leaving_.push_back({range, piece.group, weight});
    held(piece.group) += static_cast<double>(copies);
    total_[static_cast<std::size_t>(node)] += static_cast<double>(copies);
  }
}

void OutletChooser::spread(Leaving leaving) {
  TokenRange& rows = leaving.rows;
  const double most = quota(nodes_.node(leaving.holder));
  for (int exit = leaving.holder; rows.size() > 0; exit = emptiest(leaving.holder)) {
    Token taken = std::min(rows.size(), static_cast<Token>(std::max(0.0, most - load(exit)) / leaving.weight));
    if (exit != leaving.holder) taken = std::min(rows.size(), std::max(taken, least_rows_));
    if (rows.size() - taken < least_rows_ || load(emptiest(leaving.holder)) >= most) taken = rows.size();
    if (taken > 0) outlets_.push_back({{rows.begin, rows.begin + taken}, leaving.holder, exit});
    load(exit) += static_cast<double>(taken) * leaving.weight;
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
