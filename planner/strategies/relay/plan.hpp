// By which ways keys and values come from the group that holds them to those that need them, when groups share nodes: a row
// enters a node once, at one group of it, its gateway, which passes it on inside. Gradients take the same ways back and are
// summed where ways meet, so they too cross once between two nodes. Computed on intervals of the documents that are cut, in
// time proportional to the messages.
//
//   inside    holder -> group of the same node that needs the rows, or by whose NIC they leave (outlets.hpp)
//   between   holder, or that group, or in rounds one to which the rows came from another node -> gateway in another
//             node, where it can in the same position of its node, so that a message stays on its rail
//   onward    gateway -> group of the same node that needs the rows
//
// Stages are numbered in the order of forward: those inside first, then those between nodes (with their way onward). In rounds
// only what leaves the node by another group's NIC comes first, for the first round waits for it; the rest inside comes in
// several stages, which alternate with the first rounds. All groups meet in the order of stages and hops, so nobody waits for
// ever. A stage's messages of one hop are posted together and share ports; where a node has more to send than others, stages
// are better planned as rounds (round_schedule.hpp).
#pragma once

#include <span>
#include <vector>

#include "planner/strategies/program_builder.hpp"

namespace hsap {

enum class Hop { inside, between, onward };

struct RelayRules {
  /// In how many steps a group attends to what comes from other nodes (or groups, if there is one node). In rounds: so many
  /// would do for the node into which most comes; there may be twice as many, and those that passing on takes.
  int stages = 1;
  Token least_rows = 1;    ///< a document's rows are not split over stages into fewer than this
  bool in_rounds = false;  ///< nodes pass on to others what came to them (steps_in_rounds.hpp)
};

/// Rows that come to a group in one stage and are stored together: those that it needs, or those that it only passes on.
struct Arrival {
  int stage = 0;
  bool needed = true;
  TokenSetId rows = 0;
  /// Those whose gradients of other groups are summed here before they go back: for which the group is the gateway; of a stage
  /// inside, all if some go on to other nodes.
  TokenSetId entered = 0;
};

/// One step of the way of rows.
struct Relay {
  static constexpr int kOwn = -1;
  int from = 0;
  int to = 0;
  int stage = 0;
  Hop hop = Hop::inside;
  int source = kOwn;  ///< arrival of `from` that holds the rows, or kOwn
  int arrival = 0;    ///< of `to`
  TokenSetId rows = 0;
};

/// What a group takes part in. Relays come in the order of their exchanges; those between the same two groups in the same order
/// at both.
struct GroupRelays {
  std::span<const Arrival> arrivals;
  std::span<const Relay> in, out;
};

struct RelayPlan {
  int stages = 0;
  std::vector<bool> is_inside;  ///< [stage] rows stay in their node
  bool stays_inside = false;    ///< there is one node
  bool passes_on = false;       ///< rows that came from another node may leave for a third one, in a later stage

  /// Valid as long as the plan.
  GroupRelays of_group(std::size_t group) const {
    const auto part = [group](const auto& all, const std::vector<std::size_t>& first) {
      return std::span(all).subspan(first[group], first[group + 1] - first[group]);
    };
    return {part(arrivals, first_arrival), part(in, first_in), part(out, first_out)};
  }

  /// Of all groups, one after the other; those of group g begin at [first_...[g]] and end where those of g + 1 begin.
  std::vector<Arrival> arrivals;
  std::vector<Relay> in, out;
  std::vector<std::size_t> first_arrival, first_in, first_out;
};

/// `groups` = token sets, disjoint; node_of_group ascends.
RelayPlan plan_relays(ProgramBuilder& builder, const std::vector<TokenSetId>& groups, const std::vector<int>& node_of_group,
                      const RelayRules& rules);

}  // namespace hsap
