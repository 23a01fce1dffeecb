// Which groups share a node, and in how many stages they meet: what the steps of a relayed exchange are planned on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "planner/strategies/relay/plan.hpp"

namespace hsap {

/// Where rows are stored in a group.
enum class Store { own, needed, passing };

struct RelayNodes {
  /// node_of_group ascends. Throws InvalidInput for more stages than ways can tell apart.
  RelayNodes(const std::vector<int>& node_of_group, const RelayRules& rules);

  int nodes() const { return static_cast<int>(first_group.size()) - 1; }
  int stages() const { return inside_stages + between_stages; }
  /// Which of all stages the rounds, or stages between nodes, are. In rounds: two inside come before the first, one before
  /// each other, as long as there are more.
  int stage_of_round(int round) const { return round + (in_rounds ? std::min(round + 2, inside_stages) : inside_stages); }
  /// Which of all the stages inside are, in rounds. @pre there are several nodes. The last one is 2 inside_stages - 3, below
  /// stages(), for there are at least inside_stages - 2 rounds: two for each full stage, and one that passing on takes.
  static int stage_inside(int number) { return number < 2 ? number : 2 * number - 1; }
  bool is_inside(int stage) const {
    const bool alternate = in_rounds && nodes() > 1;
    return alternate ? stage == 0 || (stage % 2 == 1 && stage < 2 * inside_stages - 2) : stage < inside_stages;
  }
  /// Groups of a node are first(node) .. first(node + 1) - 1.
  int first(int node) const { return first_group[static_cast<std::size_t>(node)]; }
  int node(int group) const { return node_of_group[static_cast<std::size_t>(group)]; }
  int groups(int node) const { return first(node + 1) - first(node); }
  int position(int group) const { return group - first(node(group)); }
  /// Number of what comes to a group in a stage and is stored together, in this order.
  std::size_t arrival(int group, int stage, Store store) const {
    return 2 * static_cast<std::size_t>(group * stages() + stage) + (store == Store::passing);
  }
  /// Which group and store an arrival is of.
  std::size_t group_of(std::size_t arrival) const { return arrival / (2 * static_cast<std::size_t>(stages())); }
  static Store store_of(std::size_t arrival) { return arrival % 2 == 0 ? Store::needed : Store::passing; }

  std::vector<int> node_of_group;  ///< counted from 0 without a gap
  std::vector<int> first_group;    ///< of each node, and the number of groups
  bool in_rounds = false;          ///< RelayRules::in_rounds
  int inside_stages = 1;           ///< in rounds, of several nodes: the first for what leaves the node by another group's NIC
  int between_stages = 0;          ///< in rounds: the most that there may be
  int full_stages = 0;             ///< RelayRules::stages, between nodes
};

}  // namespace hsap
