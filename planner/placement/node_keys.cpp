#include "planner/placement/node_keys.hpp"

#include <algorithm>
#include <utility>

#include "planner/placement/entering_keys.hpp"

namespace hsap {

namespace {

/// How often tokens are taken from nodes that take in too much. More tries find nothing better.
constexpr int kTries = 3;
/// A layer that is longer than its share of all work by no more than this is left alone.
constexpr double kLonger = 0.001;

/// Longest time of a node over its share of all work, when its groups share its rows evenly: linear work, and attention or what
/// enters the node, whichever takes longer.
double longest_time(const std::vector<Bin>& nodes, const DocumentMask& mask, const KeyPrice& keys) {
  double longest = 0;
  for (const Bin& node : nodes) {
    const double linear = keys.pairs_per_token * static_cast<double>(node.tokens);
    const double taking_in = pairs_of_taking_in(node, mask, keys) * node.groups;
    longest = std::max(longest, (linear + std::max(node.cost - linear, taking_in)) / node.target);
  }
  return longest;
}

/// Where tokens' linear work does not fit beside what enters a node, its tokens go to nodes that have room, costly rows come
/// back, and more or other keys enter: tried a few times, and the best of all is kept.
void make_room_for_keys(const DocumentMask& mask, const RowCost& rows, double tolerance, const KeyPrice& keys, double longest,
                        std::vector<Bin>& nodes) {
  std::vector<Bin> tried = nodes;
  for (int round = 0; round < kTries && longest > 1 + kLonger; ++round) {
    Token most = 0, tokens = 0;
    for (std::size_t n = 0; n < tried.size(); ++n) {
      const double taking_in = pairs_of_taking_in(tried[n], mask, keys) * tried[n].groups;
      const auto fitting = static_cast<Token>(std::max(0.0, tried[n].target - taking_in) / keys.pairs_per_token);
      tried[n].most = taking_in > 0 ? std::clamp(fitting, tried[n].least, nodes[n].most) : nodes[n].most;
      most += tried[n].most;
      tokens += tried[n].tokens;
    }
    if (most < tokens || token_limits_met(tried)) return;
    settle_bins(rows, tolerance, tried);
    const double time = longest_time(tried, mask, keys);
    if (time >= longest) continue;
    longest = time;
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      const Token limit = nodes[n].most;
      nodes[n] = tried[n];
      nodes[n].most = limit;
    }
  }
}

}  // namespace

double pairs_of_taking_in(const Bin& node, const DocumentMask& mask, const KeyPrice& keys) {
  if (keys.pairs_per_key == 0 || keys.pairs_per_token == 0 || node.groups == 1) return 0;
  return static_cast<double>(entering_keys(node, mask)) / node.groups * keys.pairs_per_key;
}

void fill_nodes(const std::vector<Piece>& documents, const DocumentMask& mask, const RowCost& rows, double tolerance,
                const KeyPrice& keys, std::vector<Bin>& nodes) {
  std::vector<Bin> hiding = nodes;
  const bool caps_bind = fill_bins(documents, rows, tolerance, nodes);
  if (keys.pairs_per_key == 0 || keys.pairs_per_token == 0) return;
  double longest = longest_time(nodes, mask, keys);
  if (longest <= 1 + kLonger) return;
  if (caps_bind) {
    spread_under_caps(documents, rows, tolerance, keys, Fillers::whole, hiding);
    settle_bins(rows, tolerance, hiding);
    if (const double time = longest_time(hiding, mask, keys); time < longest) {
      longest = time;
      nodes = std::move(hiding);
    }
  }
  make_room_for_keys(mask, rows, tolerance, keys, longest, nodes);
}

}  // namespace hsap
