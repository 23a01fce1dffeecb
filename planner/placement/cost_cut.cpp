// The cost-cut placement. Nodes are filled first, then the groups of each node from what the node holds, both by the steps of
// cost_cut_steps.hpp.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "planner/ir/errors.hpp"
#include "planner/placement/bounds/memory.hpp"
#include "planner/placement/cost_cut_steps.hpp"
#include "planner/placement/node_keys.hpp"
#include "planner/placement/placement.hpp"

namespace hsap {

namespace {

/// Nodes are levelled closer than groups, because their groups inherit what they have.
constexpr double kNodeTolerance = 0.6;  // of that of groups
/// Share of the tokens between mean and cap that a node may fill; the rest lets the groups of a node differ.
constexpr double kNodeSlack = 0.95;
/// A cap that is given as ceil(T / groups) groups / T is met by ceil(T / groups) tokens, whichever way doubles round.
constexpr double kRounding = 1e-12;

void refuse(const std::string& what, const std::string& found, const std::string& expected) {
  throw InvalidInput("cost-cut placement: " + what + " is " + found + ", expected " + expected);
}

std::string to_text(double number) {
  std::ostringstream text;
  text.precision(12);
  text << number;
  return text.str();
}

void check_nodes(int groups, const std::vector<int>& groups_of_node) {
  int sum = 0;
  for (const int of_node : groups_of_node) {
    if (of_node < 1) refuse("the size of a node", std::to_string(of_node), "at least 1 group");
    sum += of_node;
  }
  if (sum != groups && !groups_of_node.empty())
    refuse("the sum of groups_of_node", std::to_string(sum), "the number of groups, " + std::to_string(groups));
}

void check_speeds(int groups, const std::vector<double>& speeds) {
  if (!speeds.empty() && speeds.size() != static_cast<std::size_t>(groups))
    refuse("the number of speeds", std::to_string(speeds.size()), "one for each of " + std::to_string(groups) + " groups");
  for (const double speed : speeds)
    if (!(speed > 0) || std::isinf(speed)) refuse("a speed", to_text(speed), "a positive, finite number");
}

void check(Token tokens, int groups, const CostCutOptions& options) {
  if (groups < 1) refuse("the number of groups", std::to_string(groups), "at least 1");
  check_nodes(groups, options.groups_of_node);
  check_speeds(groups, options.speeds);
  const double least = smallest_token_cap(tokens, groups);
  if (!(options.token_cap >= least * (1 - kRounding)))
    refuse("token_cap", to_text(options.token_cap),
           "at least " + to_text(least) + ": " + std::to_string(tokens) + " tokens on " + std::to_string(groups) +
               " groups make some group hold " + std::to_string((tokens + groups - 1) / groups));
  const auto require_price = [](const std::string& name, double price) {
    if (!(price >= 0) || std::isinf(price)) refuse(name, to_text(price), "a finite number from 0 on");
  };
  require_price("pairs_per_token", options.pairs_per_token);
  require_price("pairs_per_entering_key", options.pairs_per_entering_key);
  require_price("tolerance", options.tolerance);
}

/// Token limits of bins.
struct TokenLimits {
  Token least_of_group = 0;
  Token most_of_group = 0;
  double most_of_node_per_group = 0;

  TokenLimits(Token tokens, int groups, double token_cap) {
    const double mean = static_cast<double>(tokens) / groups;
    most_of_group = static_cast<Token>(std::min(std::floor(token_cap * mean * (1 + kRounding)), static_cast<double>(tokens)));
    // the smallest cap leaves every group floor or ceiling of the mean
    if (token_cap <= smallest_token_cap(tokens, groups) * (1 + kRounding)) least_of_group = tokens / groups;
    most_of_node_per_group = (1 + kNodeSlack * (token_cap - 1)) * mean;
  }
  Token most_of_node(int of_node) const {
    return static_cast<Token>(
        std::min(std::ceil(most_of_node_per_group * of_node), static_cast<double>(most_of_group) * of_node));
  }
};

/// Pieces of one document that touch become one.
std::vector<Piece> merge(const std::vector<Piece>& pieces, const DocumentMask& mask, const RowCost& rows) {
  std::vector<Piece> merged, cut;
  merged.reserve(pieces.size());
  for (const Piece& piece : pieces) (piece.tokens() < mask.document(piece.document).size() ? cut : merged).push_back(piece);
  std::sort(cut.begin(), cut.end(), [](const Piece& a, const Piece& b) {
    return a.document != b.document ? a.document < b.document : a.begin < b.begin;
  });
  const std::size_t whole = merged.size();
  for (const Piece& piece : cut)
    if (merged.size() > whole && merged.back().document == piece.document && merged.back().end == piece.begin)
      merged.back() = Piece(piece.document, merged.back().begin, piece.end, rows);
    else
      merged.push_back(piece);
  return merged;
}

/// The groups of a node, filled with what it holds. Speeds are those of its groups.
std::vector<Bin> fill_groups(const Bin& node, const double* speeds, const TokenLimits& limits, const DocumentMask& mask,
                             const RowCost& rows, double tolerance, const KeyPrice& keys) {
  const double of_node = std::accumulate(speeds, speeds + node.groups, 0.0);
  const double taking_in = pairs_of_taking_in(node, mask, keys);
  std::vector<Bin> groups(static_cast<std::size_t>(node.groups));
  for (Bin& group : groups) {
    group.target = node.cost * *speeds++ / of_node;
    group.least = limits.least_of_group;
    group.most = limits.most_of_group;
    if (taking_in > 0) {  // tokens whose linear work fits beside what enters
      const auto fitting = static_cast<Token>(std::max(0.0, group.target - taking_in) / keys.pairs_per_token);
      group.most = std::clamp(fitting, std::min(group.most, node.tokens / node.groups + 1), group.most);
    }
  }
  fill_bins(merge(node.pieces, mask, rows), rows, tolerance, {}, groups);
  return groups;
}

}  // namespace

std::vector<int> equal_nodes(int groups, int groups_per_node) {
  if (groups_per_node < 1) refuse("groups_per_node", std::to_string(groups_per_node), "at least 1");
  std::vector<int> sizes;
  for (int first = 0; first < groups; first += groups_per_node) sizes.push_back(std::min(groups_per_node, groups - first));
  return sizes;
}

Placement place_cost_cut(const DocumentMask& mask, int groups, const CostCutOptions& options) {
  check(mask.tokens(), groups, options);
  if (mask.tokens() == 0) return Placement(static_cast<std::size_t>(groups));

  const RowCost rows(mask, options.pairs_per_token);
  std::vector<Piece> documents;
  documents.reserve(mask.documents());
  double cost = 0;
  for (std::size_t i = 0; i < mask.documents(); ++i) {
    documents.emplace_back(i, 0, mask.document(i).size(), rows);
    cost += documents.back().cost;
  }

  const std::vector<double> speeds =
      options.speeds.empty() ? std::vector<double>(static_cast<std::size_t>(groups), 1) : options.speeds;
  const double cost_at_speed = cost / std::accumulate(speeds.begin(), speeds.end(), 0.0);
  const TokenLimits limits(mask.tokens(), groups, options.token_cap);
  const KeyPrice keys{options.pairs_per_token, options.pairs_per_entering_key};

  Placement placement;
  placement.reserve(static_cast<std::size_t>(groups));
  const auto place = [&](const std::vector<Bin>& bins) {
    for (const Bin& bin : bins) placement.push_back(bin.token_set(mask));
  };
  if (std::all_of(options.groups_of_node.begin(), options.groups_of_node.end(), [](int of_node) { return of_node == 1; })) {
    Bin all;  // one node, for which nothing is chosen
    all.groups = groups;
    all.pieces = std::move(documents);
    all.cost = cost;
    all.tokens = mask.tokens();
    place(fill_groups(all, speeds.data(), limits, mask, rows, options.tolerance, {}));
    return placement;
  }
  std::vector<Bin> nodes;
  const double* of_group = speeds.data();
  for (const int of_node : options.groups_of_node) {
    Bin node;
    node.groups = of_node;
    node.target = cost_at_speed * std::accumulate(of_group, of_group + of_node, 0.0);
    node.least = limits.least_of_group * of_node;
    node.most = limits.most_of_node(of_node);
    nodes.push_back(node);
    of_group += of_node;
  }
  fill_nodes(documents, mask, rows, kNodeTolerance * options.tolerance, keys, nodes);
  of_group = speeds.data();
  for (const Bin& node : nodes) {
    place(fill_groups(node, of_group, limits, mask, rows, options.tolerance, keys));
    of_group += node.groups;
  }
  return placement;
}

}  // namespace hsap
