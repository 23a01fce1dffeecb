// Which receive takes which send: the k-th message from rank a to rank b is the k-th that b receives from a.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/ir/schedule.hpp"
#include "planner/ir/verify/happens_before.hpp"

namespace hsap::proof {

/// The sends, and the receives, of one phase are numbered over all ranks, in the order rank, op, message.
using MessageIndex = std::uint32_t;

/// One end of a message.
struct MessageEnd {
  RankId rank = 0;
  OpIndex op = 0;
  std::uint32_t position = 0;  ///< in Exchange::sends or Exchange::recvs
  MessageIndex match = 0;      ///< number of the other end
};

struct MatchedMessages {
  std::vector<MessageEnd> sends;
  std::vector<MessageEnd> recvs;
  /// [rank][op]: number of the first send (receive) of the op; those of one op are consecutive.
  std::vector<std::vector<MessageIndex>> first_send;
  std::vector<std::vector<MessageIndex>> first_recv;
};

/// Throws InvalidInput when a message has no other end, when both ends do not list the same parts, or when a rank does not
/// order two of its Exchanges that meet the same peer (then which message is the k-th would be luck). `order` is [rank]. @pre
/// structure is checked. O(messages log messages + parts).
MatchedMessages match_messages(const Schedule& schedule, Phase phase, const std::vector<HappensBefore>& order);

}  // namespace hsap::proof
