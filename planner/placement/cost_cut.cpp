// The cost-cut placement. Nodes are filled first, then the groups of each node from what the node holds, both by the steps of
// cost_cut_steps.hpp.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "planner/ir/errors.hpp"
#include "planner/placement/cost_cut_steps.hpp"
#include "planner/placement/placement.hpp"

namespace hsap {

namespace {

/// Nodes are levelled closer than groups, because their groups inherit what they have.
constexpr double kNodeTolerance = 0.6;  // of that of groups
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
  if (!options.groups_of_node.empty()) {
    int sum = 0;
    for (const int of_node : options.groups_of_node) {
      if (of_node < 1) refuse("the size of a node", std::to_string(of_node), "at least 1 group");
      sum += of_node;
    }
    if (sum != groups)
      refuse("the sum of groups_of_node", std::to_string(sum), "the number of groups, " + std::to_string(groups));
  }
  if (!options.speeds.empty() && options.speeds.size() != static_cast<std::size_t>(groups))
    refuse("the number of speeds", std::to_string(options.speeds.size()),
           "one for each of " + std::to_string(groups) + " groups");
  for (const double speed : options.speeds)
    if (!(speed > 0) || std::isinf(speed)) refuse("a speed", std::to_string(speed), "a positive, finite number");
  if (!(options.token_cap >= 1))
    refuse("token_cap", std::to_string(options.token_cap), "at least 1: with less, the groups cannot hold all tokens");
  const auto require_price = [&](const std::string& name, double price) {
    if (!(price >= 0) || std::isinf(price)) refuse(name, std::to_string(price), "a finite number from 0 on");
  };
  require_price("pairs_per_token", options.pairs_per_token);
  require_price("pairs_per_entering_key", options.pairs_per_entering_key);
  require_price("tolerance", options.tolerance);
}

/// Token limits and costs of bins that have been spread over.
void settle(const RowCost& rows, double tolerance, std::vector<Bin>& bins) {
  for (int round = 0; round < kRounds && !token_limits_met(bins); ++round) {
    meet_token_limits(bins, rows);
    recut_chains(bins, rows);
  }
  meet_token_limits(bins, rows);
  level_costs(bins, rows, tolerance);
}

void fill(const std::vector<Piece>& pieces, const RowCost& rows, double tolerance, std::vector<Bin>& bins) {
  spread(pieces, rows, tolerance, bins);
  settle(rows, tolerance, bins);
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

/// Pairs' worth of time in which a group of the node takes in its share of the keys that enter the node; 0 when that does not
/// matter.
double pairs_of_taking_in(const Bin& node, const DocumentMask& mask, const CostCutOptions& options) {
  if (options.pairs_per_entering_key == 0 || options.pairs_per_token == 0 || node.groups == 1) return 0;
  const TokenSet held = token_set_of(node, mask);
  const auto entering = static_cast<double>(difference(mask.keys_seen_by(held), held).size());
  return entering / node.groups * options.pairs_per_entering_key;
}

/// Longest time of a node in pairs, when its groups share its rows evenly: linear work, and attention or what enters the node,
/// whichever takes longer.
double longest_time(const std::vector<Bin>& nodes, const DocumentMask& mask, const CostCutOptions& options) {
  double longest = 0;
  for (const Bin& node : nodes) {
    const double linear = options.pairs_per_token * static_cast<double>(node.tokens) / node.groups;
    longest = std::max(longest, linear + std::max(node.cost / node.groups - linear, pairs_of_taking_in(node, mask, options)));
  }
  return longest;
}

/// Where tokens' linear work does not fit beside what enters a node, its tokens go to nodes that have room, costly rows come
/// back, and more or other keys enter: tried a few times, and the best of all is kept.
void make_room_for_keys(const DocumentMask& mask, const CostCutOptions& options, const RowCost& rows, std::vector<Bin>& nodes) {
  double best = longest_time(nodes, mask, options);
  std::vector<Bin> tried = nodes;
  for (int round = 0; round < kRounds; ++round) {
    Token most = 0;
    for (std::size_t n = 0; n < tried.size(); ++n) {
      const double taking_in = pairs_of_taking_in(tried[n], mask, options) * tried[n].groups;
      const auto fitting = static_cast<Token>(std::max(0.0, tried[n].target - taking_in) / options.pairs_per_token);
      tried[n].most = taking_in > 0 ? std::clamp(fitting, tried[n].least, nodes[n].most) : nodes[n].most;
      most += tried[n].most;
    }
    if (most < mask.tokens() || token_limits_met(tried)) return;
    settle(rows, kNodeTolerance * options.tolerance, tried);
    const double longest = longest_time(tried, mask, options);
    if (longest >= best) continue;
    best = longest;
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      const Token limit = nodes[n].most;
      nodes[n] = tried[n];
      nodes[n].most = limit;
    }
  }
}

/// Groups of each node.
std::vector<int> node_sizes(int groups, const CostCutOptions& options) {
  if (!options.groups_of_node.empty()) return options.groups_of_node;
  std::vector<int> sizes;
  for (int first = 0; first < groups; first += sizes.back()) sizes.push_back(std::min(options.groups_per_node, groups - first));
  return sizes;
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

  const std::vector<int> groups_of_node = node_sizes(groups, options);
  const std::vector<double> speeds =
      options.speeds.empty() ? std::vector<double>(static_cast<std::size_t>(groups), 1) : options.speeds;
  const double speed = std::accumulate(speeds.begin(), speeds.end(), 0.0);
  const bool one_level = groups_of_node.size() == static_cast<std::size_t>(groups);
  std::vector<Bin> nodes;
  auto of_group = speeds.begin();
  for (const int of_node : groups_of_node) {
    Bin node;
    node.groups = of_node;
    node.target = cost * std::accumulate(of_group, of_group + of_node, 0.0) / speed;
    node.least = least * of_node;
    node.most = one_level ? most : std::min(tokens_at(node_cap, of_node), most * of_node);
    nodes.push_back(node);
    of_group += of_node;
  }
  fill(documents, rows, (one_level ? 1 : kNodeTolerance) * options.tolerance, nodes);
  if (!one_level && options.pairs_per_entering_key > 0 && options.pairs_per_token > 0)
    make_room_for_keys(mask, options, rows, nodes);

  Placement placement;
  placement.reserve(static_cast<std::size_t>(groups));
  of_group = speeds.begin();
  for (const Bin& node : nodes) {
    const double of_node = std::accumulate(of_group, of_group + node.groups, 0.0);
    const double taking_in = pairs_of_taking_in(node, mask, options);
    std::vector<Bin> bins(static_cast<std::size_t>(node.groups));
    for (Bin& group : bins) {
      group.target = node.cost * *of_group++ / of_node;
      group.least = least;
      group.most = most;
      if (taking_in > 0) {  // tokens whose linear work fits beside what enters
        const auto fitting = static_cast<Token>(std::max(0.0, group.target - taking_in) / options.pairs_per_token);
        group.most = std::clamp(fitting, std::min(most, node.tokens / node.groups + 1), most);
      }
    }
    fill(merge(node.pieces, rows), rows, options.tolerance, bins);
    for (const Bin& bin : bins) placement.push_back(token_set_of(bin, mask));
  }
  return placement;
}

}  // namespace hsap
