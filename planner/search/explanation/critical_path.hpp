// Why a phase lasts as long as it does: the chain of kernels and messages of which each began when the one before it ended,
// from the phase's start to its end; and what ranks wait for while they compute nothing.
//
// The walk goes back from the op that ends last. A kernel began when the last op before it (on its stream, or named by `after`)
// ended. An Exchange ended with one of its messages, which began when the later of its two ends was posted: the walk goes on at
// that end. A Timeline does not tell which message was the last one; we take the one that would end last on idle links (an
// assumption: contention may have delayed another one more).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planner/search/explanation/phase_run.hpp"

namespace hsap {

/// What one message brings.
struct Delivery {
  RankId from = 0, to = 0;
  std::vector<Role> roles;
  bool operator==(const Delivery&) const = default;
};

/// A kernel, a message on its way, or (kind empty) time that passes for no reason that the schedule knows.
struct PathStep {
  double begin = 0, end = 0;  ///< since the phase's start
  RankId rank = 0;            ///< computes, or receives the message
  OpIndex op = 0;             ///< of that rank
  std::string kind;           ///< kind_name()
  std::optional<Delivery> delivery;
  double seconds() const { return end - begin; }
};

/// In order of time, each beginning where the one before ends, from 0 to the end of the phase; empty when it takes no time.
/// O(ops + edges + messages of the Exchanges on the path).
std::vector<PathStep> critical_path(const PhaseRun& run);

/// Seconds that some steps of a path spend on one kind of op; of Exchanges, on messages that carry the same roles.
struct ActivityShare {
  std::string kind;
  std::vector<Role> roles;
  double seconds = 0;
};

/// Consecutive steps of a path, told together.
struct PathRun {
  double begin = 0, end = 0;
  std::size_t steps = 0;
  std::vector<RankId> ranks;          ///< that compute or receive, ascending
  std::vector<RankId> senders;        ///< of its messages, ascending
  std::vector<ActivityShare> shares;  ///< largest first
};

/// The path in at most `most` runs: neighbours of one rank and activity are joined always; where that is not enough, those of
/// one activity, and then, again and again, the two of which least is lost: the shortest together, or one that is short beside
/// a neighbour that does the same and more. O(steps^2). @pre most >= 1
std::vector<PathRun> summarised(const std::vector<PathStep>& path, std::size_t most);

/// Time in which a rank computes nothing, and what ends it.
struct Wait {
  std::optional<Delivery> delivery;  ///< what the next kernel, or the end of the rank's program, waits for; none: rank is done
  double seconds = 0;
};
struct RankWaits {
  RankId rank = 0;
  double seconds = 0;       ///< all of it
  std::vector<Wait> waits;  ///< those with one delivery together, largest first
};

/// Seconds in which each rank computes nothing, until the phase ends. By rank.
std::vector<double> idle_seconds(const PhaseRun& run);
RankWaits waits_of(const PhaseRun& run, RankId rank);

}  // namespace hsap
