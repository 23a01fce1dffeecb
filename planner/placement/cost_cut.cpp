// The cost-cut placement. Nodes are filled first, then the groups of each node from what the node holds, both by the steps of
// cost_cut_steps.hpp.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "planner/ir/errors.hpp"
#include "planner/placement/cost_cut_steps.hpp"
#include "planner/placement/placement.hpp"

namespace hsap {

namespace {

/// A bin is left alone when its cost is above target by no more than this. Smaller values cut more documents for nothing that a
/// clock would notice; nodes are levelled closer, because their groups inherit what they have.
constexpr double kNodeTolerance = 0.0003;
constexpr double kGroupTolerance = 0.0005;
/// Share of the tokens between mean and cap that a node may fill; the rest lets the groups of a node differ.
constexpr double kNodeSlack = 0.9;
/// Fillers and tails push each other, so token limits and chains are seen to in turn. Six rounds move no fewer keys.
constexpr int kRounds = 3;

void check(int groups, const CostCutOptions& options) {
  const auto refuse = [](const std::string& what, const std::string& found, const std::string& expected) {
    throw InvalidInput("cost-cut placement: " + what + " is " + found + ", expected " + expected);
  };
  if (groups < 1) refuse("the number of groups", std::to_string(groups), "at least 1");
  if (options.groups_per_node < 1) refuse("groups_per_node", std::to_string(options.groups_per_node), "at least 1");
  if (!(options.token_cap >= 1))
    refuse("token_cap", std::to_string(options.token_cap), "at least 1: with less, the groups cannot hold all tokens");
  if (!(options.pairs_per_token >= 0) || std::isinf(options.pairs_per_token))
    refuse("pairs_per_token", std::to_string(options.pairs_per_token), "a finite number from 0 on");
}

void fill(const std::vector<Piece>& pieces, const RowCost& rows, double tolerance, std::vector<Bin>& bins) {
  spread(pieces, rows, tolerance, bins);
  for (int round = 0; round < kRounds && !token_limits_met(bins); ++round) {
    meet_token_limits(bins, rows);
    recut_chains(bins, rows);
  }
  meet_token_limits(bins, rows);
  level_costs(bins, rows, tolerance);
}

/// Pieces of one document that touch become one.
std::vector<Piece> merge(std::vector<Piece> pieces, const RowCost& rows) {
  std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) {
    return a.document != b.document ? a.document < b.document : a.begin < b.begin;
  });
  std::vector<Piece> merged;
  for (const Piece& piece : pieces)
    if (!merged.empty() && merged.back().document == piece.document && merged.back().end == piece.begin)
      merged.back() = Piece(piece.document, merged.back().begin, piece.end, rows);
    else
      merged.push_back(piece);
  return merged;
}

TokenSet token_set_of(const Bin& bin, const DocumentMask& mask) {
  std::vector<TokenRange> ranges;
  ranges.reserve(bin.pieces.size());
  for (const Piece& piece : bin.pieces) {
    const Token begin = mask.document(piece.document).begin;
    ranges.push_back({begin + piece.begin, begin + piece.end});
  }
  return TokenSet(std::move(ranges));
}

}  // namespace

Placement place_cost_cut(const DocumentMask& mask, int groups, const CostCutOptions& options) {
  check(groups, options);
  if (mask.tokens() == 0) return Placement(static_cast<std::size_t>(groups));

  const RowCost rows(mask, options.pairs_per_token);
  std::vector<Piece> documents;
  documents.reserve(mask.documents());
  double cost = 0;
  for (std::size_t i = 0; i < mask.documents(); ++i) {
    documents.emplace_back(i, 0, mask.document(i).size(), rows);
    cost += documents.back().cost;
  }

  const Token tokens = mask.tokens();
  const Token mean_down = tokens / groups;
  const Token mean_up = (tokens + groups - 1) / groups;
  const auto tokens_at = [&](double cap, int of_groups) {
    return static_cast<Token>(
        std::min(std::ceil(cap * static_cast<double>(tokens) / groups * of_groups), static_cast<double>(tokens)));
  };
  const Token most = std::max(tokens_at(options.token_cap, 1), mean_up);
  const Token least = options.token_cap == 1 ? mean_down : 0;  // then floor or ceiling of the mean in every group
  const double node_cap = 1 + kNodeSlack * (options.token_cap - 1);

  const int per_node = std::min(options.groups_per_node, groups);
  std::vector<Bin> nodes;
  for (int first = 0; first < groups; first += per_node) {
    Bin node;
    node.groups = std::min(per_node, groups - first);
    node.target = cost * node.groups / groups;
    node.least = least * node.groups;
    node.most = per_node == 1 ? most : std::min(tokens_at(node_cap, node.groups), most * node.groups);
    nodes.push_back(node);
  }
  fill(documents, rows, per_node == 1 ? kGroupTolerance : kNodeTolerance, nodes);

  Placement placement;
  placement.reserve(static_cast<std::size_t>(groups));
  for (const Bin& node : nodes) {
    Bin group;
    group.target = node.cost / node.groups;
    group.least = least;
    group.most = most;
    std::vector<Bin> bins(static_cast<std::size_t>(node.groups), group);
    fill(merge(node.pieces, rows), rows, kGroupTolerance, bins);
    for (const Bin& bin : bins) placement.push_back(token_set_of(bin, mask));
  }
  return placement;
}

}  // namespace hsap
