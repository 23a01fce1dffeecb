// The cost-cut placement. What is whole is filled first, then its parts from what it holds: pods, the nodes of a pod, the
// groups of a node, all by the steps of cost_cut_steps.hpp.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "planner/ir/errors.hpp"
#include "planner/placement/bounds/memory.hpp"
#include "planner/placement/cost_cut_steps.hpp"
#include "planner/placement/node_keys.hpp"
#include "planner/placement/piece_order.hpp"
#include "planner/placement/placement.hpp"

namespace hsap {

namespace {

/// Nodes are levelled closer than groups, because their groups inherit what they have; pods than nodes.
constexpr double kNodeTolerance = 0.6;  // of that of groups
/// Share of the tokens between mean and cap that a node may fill; the rest lets the groups of a node differ. A pod may fill
/// this share of what its nodes may.
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

/// Sizes of nodes or pods.
void check_sizes(int groups, const char* of_one, const char* option, const std::vector<int>& sizes) {
  int sum = 0;
  for (const int size : sizes) {
    if (size < 1) refuse(std::string("the size of a ") + of_one, std::to_string(size), "at least 1 group");
    sum += size;
  }
  if (sum != groups && !sizes.empty())
    refuse(std::string("the sum of ") + option, std::to_string(sum), "the number of groups, " + std::to_string(groups));
}

/// Every pod ends where a node ends.
void check_pods_hold_nodes(const std::vector<int>& pods, const std::vector<int>& nodes) {
  std::size_t node = 0;
  for (std::size_t pod = 0; pod < pods.size() && !nodes.empty(); ++pod) {
    int rest = pods[pod];
    while (rest > 0) rest -= nodes[node++];
    if (rest < 0)
      refuse("groups_of_pod[" + std::to_string(pod) + "]", std::to_string(pods[pod]),
             "whole nodes of groups_of_node: this one ends inside node " + std::to_string(node - 1));
  }
}

void check_speeds(int groups, const std::vector<double>& speeds) {
  if (!speeds.empty() && speeds.size() != static_cast<std::size_t>(groups))
    refuse("the number of speeds", std::to_string(speeds.size()), "one for each of " + std::to_string(groups) + " groups");
  for (const double speed : speeds)
    if (!(speed > 0) || std::isinf(speed)) refuse("a speed", to_text(speed), "a positive, finite number");
}

void check(Token tokens, int groups, const CostCutOptions& options) {
  if (groups < 1) refuse("the number of groups", std::to_string(groups), "at least 1");
  check_sizes(groups, "node", "groups_of_node", options.groups_of_node);
  check_sizes(groups, "pod", "groups_of_pod", options.groups_of_pod);
  check_pods_hold_nodes(options.groups_of_pod, options.groups_of_node);
  check_speeds(groups, options.speeds);
  const double least = smallest_token_cap(tokens, groups);
  if (!(options.token_cap >= least * (1 - kRounding)))
    refuse("token_cap", to_text(options.token_cap),
           "at least " + to_text(least) + ": " + std::to_string(tokens) + " tokens on " + std::to_string(groups) +
               " groups make some group hold " + std::to_string((tokens + groups - 1) / groups));
  const auto require_price = [](const char* name, double price) {
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
  double mean = 0;
  double token_cap = 0;

  TokenLimits(Token tokens, int groups, double cap) : mean(static_cast<double>(tokens) / groups), token_cap(cap) {
    most_of_group = static_cast<Token>(std::min(std::floor(cap * mean * (1 + kRounding)), static_cast<double>(tokens)));
    // the smallest cap leaves every group floor or ceiling of the mean
    if (cap <= smallest_token_cap(tokens, groups) * (1 + kRounding)) least_of_group = tokens / groups;
  }
  /// Of a bin of so many groups that may fill this share of the tokens between mean and cap.
  Token most_of(int groups, double slack) const {
    return static_cast<Token>(
        std::min(std::ceil((1 + slack * (token_cap - 1)) * mean * groups), static_cast<double>(most_of_group) * groups));
  }
};

class CostCut {
 public:
  CostCut(const DocumentMask& mask, int groups, const CostCutOptions& options)
      : mask_(mask),
        rows_(mask, options.pairs_per_token),
        keys_{options.pairs_per_token, options.pairs_per_entering_key},
        limits_(mask.tokens(), groups, options.token_cap),
        tolerance_(options.tolerance),
        speeds_(options.speeds.empty() ? std::vector<double>(static_cast<std::size_t>(groups), 1) : options.speeds),
        ones_(static_cast<std::size_t>(groups), 1) {
    placement_.reserve(speeds_.size());
  }

  /// Sizes in groups; without nodes there is nothing to choose between groups of a pod.
  Placement place(const std::vector<int>& pods, const std::vector<int>& nodes) {
    Bin all;
    all.groups = static_cast<int>(speeds_.size());
    all.pieces.reserve(mask_.documents());
    for (std::size_t i = 0; i < mask_.documents(); ++i) all.add({i, 0, mask_.document(i).size(), rows_});
    sort_costliest_first(all.pieces);
    if (pods.size() < 2) {
      place_pod(all, all.pieces, nodes);
      return std::move(placement_);
    }
    std::vector<Bin> filled;
    share_out(all, pods, 0, kNodeSlack * kNodeSlack, filled);
    fill_bins(all.pieces, rows_, kNodeTolerance * kNodeTolerance * tolerance_, filled);
    const std::vector<std::vector<Piece>> pieces = costliest_first(all.pieces, rows_, filled);
    auto node = nodes.begin();
    for (std::size_t pod = 0; pod < filled.size(); ++pod) {
      const auto first = node;
      for (int groups = 0; node != nodes.end() && groups < filled[pod].groups; ++node) groups += *node;
      place_pod(filled[pod], pieces[pod], {first, node});
    }
    return std::move(placement_);
  }

 private:
  /// Empties bins and makes them bins of these sizes, `first_group` being the first group of all. The target of each is its
  /// share, by speed, of what `whole` costs; `slack` as in TokenLimits::most_of().
  void share_out(const Bin& whole, std::span<const int> sizes, std::size_t first_group, double slack,
                 std::vector<Bin>& bins) const {
    const auto speed = speeds_.begin() + static_cast<std::ptrdiff_t>(first_group);
    const double cost_at_speed = whole.cost / std::accumulate(speed, speed + whole.groups, 0.0);
    bins.resize(sizes.size());
    auto first = speed;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      Bin& bin = bins[i];
      bin.clear();
      bin.groups = sizes[i];
      bin.target = cost_at_speed * std::accumulate(first, first + sizes[i], 0.0);
      bin.least = limits_.least_of_group * sizes[i];
      bin.most = limits_.most_of(sizes[i], slack);
      first += sizes[i];
    }
  }

  /// `pieces`: those of the pod as costliest_first() gives them.
  void place_pod(const Bin& pod, const std::vector<Piece>& pieces, const std::vector<int>& node_sizes) {
    if (std::all_of(node_sizes.begin(), node_sizes.end(), [](int groups) { return groups == 1; }))
      return place_groups(pod, pieces, {});
    std::vector<Bin> nodes;
    share_out(pod, node_sizes, placement_.size(), kNodeSlack, nodes);
    fill_nodes(pieces, mask_, rows_, kNodeTolerance * tolerance_, keys_, nodes);
    const std::vector<std::vector<Piece>> pieces_of_nodes = costliest_first(pieces, rows_, nodes);
    for (std::size_t i = 0; i < nodes.size(); ++i) place_groups(nodes[i], pieces_of_nodes[i], keys_);
  }

  /// The groups of a node. `pieces`: those of the node as costliest_first() gives them. `keys`: those that enter it are spread
  /// over them.
  void place_groups(const Bin& node, const std::vector<Piece>& pieces, const KeyPrice& keys) {
    share_out(node, {ones_.data(), static_cast<std::size_t>(node.groups)}, placement_.size(), 1, groups_);
    const double taking_in = pairs_of_taking_in(node, mask_, keys);
    for (Bin& group : groups_) {
      if (taking_in == 0) break;  // else tokens whose linear work fits beside what enters
      const auto fitting = static_cast<Token>(std::max(0.0, group.target - taking_in) / keys.pairs_per_token);
      group.most = std::clamp(fitting, std::min(group.most, node.tokens / node.groups + 1), group.most);
    }
    fill_bins(pieces, rows_, tolerance_, groups_);
    for (const Bin& group : groups_) placement_.push_back(group.token_set(mask_, ranges_));
  }

  const DocumentMask& mask_;
  const RowCost rows_;
  const KeyPrice keys_;
  const TokenLimits limits_;
  const double tolerance_;
  const std::vector<double> speeds_;
  const std::vector<int> ones_;  // sizes of groups
  Placement placement_;
  // memory that is used again for each node
  std::vector<Bin> groups_;
  std::vector<TokenRange> ranges_;
};

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
  return CostCut(mask, groups, options).place(options.groups_of_pod, options.groups_of_node);
}

}  // namespace hsap
