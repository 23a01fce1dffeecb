// Who sends what in which round, and the program of one rank op by op.
#pragma once

#include <string>
#include <vector>

#include "planner/inputs/cluster_topology.hpp"
#include "planner/ir/schedule.hpp"
#include "planner/ir/timeline.hpp"

namespace hsap {

/// All messages that carry the same roles and that ranks send in one step (Op::step) on one stream.
struct RoundTraffic {
  int step = 0;
  int stream = 0;
  std::vector<Role> roles;  ///< that each message carries
  std::size_t messages = 0;
  double bytes = 0;
  double largest_bytes = 0;  ///< of one message, the first such
  RankId largest_from = 0, largest_to = 0;
  std::size_t messages_between_nodes = 0;
  double bytes_between_nodes = 0;
  std::size_t senders = 0;     ///< ranks that send
  std::size_t most_peers = 0;  ///< different ranks that one rank sends to
};

struct PhaseTraffic {
  std::vector<RoundTraffic> rounds;  ///< by step, then stream, then roles
  std::vector<double> bytes_sent;    ///< by rank
  std::size_t messages = 0;
  double bytes = 0;
  double bytes_between_nodes = 0;
};
/// O(messages log messages).
PhaseTraffic traffic_of(const Schedule& schedule, Phase phase, const ClusterTopology& cluster);

/// One op of a rank as a person reads it.
struct RankOp {
  Phase phase = Phase::forward;
  OpIndex op = 0;
  int stream = 0;
  int step = 0;
  std::string kind;          ///< kind_name()
  std::vector<Role> roles;   ///< Exchange: carried, sent ones first; other ops: written
  std::vector<RankId> to;    ///< Exchange: who is sent to
  std::vector<RankId> from;  ///< Exchange: who is received from
  Token rows_sent = 0;       ///< Exchange: over all messages, the rows of each one's longest part
  Token rows_received = 0;
  Token rows_written = 0;  ///< other ops: of the first slice written
  double bytes_sent = 0;
  double bytes_received = 0;
  double bytes_touched = 0;  ///< other ops: read and written in device memory (memory_traffic_of)
  OpTime time;               ///< since the phase's start
};
/// The program of `rank`, forward, then backward, in issue order.
std::vector<RankOp> rank_program(const Schedule& schedule, RankId rank, const Timeline& timeline);

}  // namespace hsap
