// Every way to break a Schedule a little: what verify() must refuse. Used on small schedules of all strategies.
//
// Some changes are none: two attends of the same rows that change places, two messages with equal parts that change peers.
// Those are not produced but counted (MutationCount::skipped). Of some others only an execution can tell whether they do harm
// (two exchanges with different peers that change places, a key dropped that no query sees): those are marked
// `may_be_harmless`.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>

#include "planner/ir/schedule.hpp"

namespace hsap::test {

struct Mutation {
  std::string kind;         ///< "drop op", "swap neighbours", ...
  std::string description;  ///< "rank 1, forward: drop op 3 (merge)"
  bool may_be_harmless = false;
  Schedule schedule;  ///< the mutated one
};

struct MutationCount {
  std::size_t produced = 0;
  std::size_t skipped = 0;  ///< changes that change nothing
};

/// Calls visit for every mutation of the schedule, one after the other:
///  * "drop op", "duplicate op": ids are renumbered and `after` follows;
///  * "swap ops": neighbours of one stream change places, ids included;
///  * "swap bodies": the same with ids and `after` repaired, so that only the order differs;
///  * "drop message", "duplicate message": on one side;
///  * "swap peers" of two messages, "swap parts" of one, on one side;
///  * "drop term", "duplicate term", "swap terms" of a sum of states;
///  * "shorten tokens", "shorten heads": one slice by one;
///  * "shorten alike": all slices of an op, or both ends of a message, that must agree, by one token (may be harmless);
///  * "drop after": one edge (may be harmless).
/// Returns the counts by kind.
std::map<std::string, MutationCount> for_each_mutation(const Schedule& schedule,
                                                       const std::function<void(const Mutation&)>& visit);

/// True when verify() accepts the schedule for its own mask.
bool is_accepted(const Schedule& schedule);

}  // namespace hsap::test
