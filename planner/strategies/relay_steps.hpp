// The single steps that rows take from the group that holds them to those that need them, worked out one cut document at a
// time; relay_plan.hpp says by which rules, and makes messages of them.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/ir/document_mask.hpp"
#include "planner/strategies/cut_documents.hpp"
#include "planner/strategies/relay_plan.hpp"

namespace hsap {

/// Where rows are stored in a group.
enum class Store { own, needed, passing };

/// How rows come to a group. Ways are ordered as their members are.
struct Way {
  int stage = 0;
  Hop hop = Hop::inside;
  int from = 0;
  Store source = Store::own;      ///< in `from`
  Store arrival = Store::needed;  ///< where they go: never own

  /// The same as one number, in the same order. @pre from < 2^29
  std::uint64_t number() const;
};
Way way_of(std::uint64_t number);

/// Rows of one document that come to a group by one way.
struct RelayStep {
  std::uint64_t way = 0;  ///< Way::number()
  int to = 0;
  std::uint32_t first = 0, count = 0;  ///< of RelaySteps::ranges, ascending
};

/// What comes to a group in one stage and is stored together, as Arrival says it.
struct ArrivalRows {
  std::vector<TokenRange> rows, entered;  ///< normalised
};

struct RelaySteps {
  std::vector<RelayStep> steps;
  std::vector<TokenRange> ranges;
  std::vector<ArrivalRows> arrivals;  ///< [group][stage][needed, passing]; most are empty
};

/// Which groups share a node, and in how many stages they meet.
struct RelayNodes {
  /// node_of_group ascends.
  RelayNodes(const std::vector<int>& node_of_group, const RelayRules& rules);

  int nodes() const { return static_cast<int>(first_group.size()) - 1; }
  int stages() const { return inside_stages + between_stages; }
  /// Index of RelaySteps::arrivals.
  std::size_t arrival(int group, int stage, Store store) const {
    return 2 * static_cast<std::size_t>(group * stages() + stage) + (store == Store::passing);
  }
  int position(int group) const {
    return group - first_group[static_cast<std::size_t>(node_of_group[static_cast<std::size_t>(group)])];
  }

  std::vector<int> node_of_group;  ///< counted from 0 without a gap
  std::vector<int> first_group;    ///< of each node, and the number of groups
  int inside_stages = 1;
  int between_stages = 0;
};

/// `pieces` = all pieces of cut documents, in token order. Time: steps, and for each node the pieces that it may need.
RelaySteps plan_relay_steps(const DocumentMask& mask, const std::vector<HeldPiece>& pieces, const RelayNodes& nodes,
                            Token least_rows);

}  // namespace hsap
