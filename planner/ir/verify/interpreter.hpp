// Runs all ranks' programs symbolically, in an order found by matching their messages, and follows where every (query, key)
// pair goes. Refuses races, reads of what is not there, unfinished softmax in backward, and programs that wait for ever.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "planner/ir/schedule.hpp"
#include "planner/ir/verify/contents.hpp"
#include "planner/ir/verify/exact_cover.hpp"
#include "planner/ir/verify/happens_before.hpp"
#include "planner/ir/verify/messages.hpp"

namespace hsap::proof {

class Interpreter {
 public:
  /// @pre the schedule's structure is checked. `sets` and `counts` belong to `schedule`; all outlive the interpreter.
  Interpreter(const Schedule& schedule, TokenAlgebra& sets, TokenCounts& counts);

  /// Runs a phase to its end and checks its results. Call it for forward, then for backward.
  void run(Phase phase);
  /// After both phases: nothing was computed for nobody.
  void check_all_was_read() const;

 private:
  /// Ops named by the message about ranks that wait for each other.
  static constexpr std::size_t kMostWaitersNamed = 6;
  enum class Progress : std::uint8_t { waiting, posted, done };
  /// What a part of a message holds; only of roles other than inputs, which always hold the tensor itself.
  struct Carried {
    std::uint32_t part;
    Piece piece;
  };
  struct Stream {
    std::vector<OpIndex> ops;
    std::size_t next = 0;
  };
  struct RankRun {
    std::vector<Stream> streams;
    std::vector<Progress> progress;            // [op]
    std::vector<std::uint32_t> peers_to_come;  // [op]: messages whose other end is not posted yet
    bool queued = false;
  };

  const PooledList<Op>& ops(RankId rank) const { return ops_of(schedule_.ranks[rank], phase_); }
  void prepare(RankId rank);
  void wake(RankId rank);
  void advance(RankId rank);
  bool ready(RankId rank, const Op& op) const;
  void post(RankId rank, const Op& op, const Exchange& exchange);
  /// The other end of a message of this exchange is posted, too.
  void meet(const MessageEnd& end);
  void receive(RankId rank, const Op& op, const Exchange& exchange);
  void refuse_if_waiting() const;
  /// What keeps an unfinished op from ending: an op of its own rank or of a peer.
  std::pair<RankId, OpIndex> blocker_of(RankId rank, OpIndex op) const;
  void check_result(RankId rank, BufferId buffer, Direction direction);

  const Schedule& schedule_;
  TokenAlgebra& sets_;
  Values values_;
  ExactCover cover_;
  std::vector<RankContents> contents_;  // [rank]

  // Of the phase that runs.
  Phase phase_ = Phase::forward;
  std::vector<HappensBefore> order_;  // [rank]
  MatchedMessages messages_;
  std::vector<std::vector<Carried>> in_flight_;  // [send]
  std::vector<RankRun> runs_;                    // [rank]
  std::deque<RankId> awake_;
};

}  // namespace hsap::proof
