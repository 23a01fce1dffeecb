// Bound by messages: a document that cannot lie on one rank makes somebody wait for somebody else. Causal masks, whole rows.
//
// Why. A document lies on at least k = max(ceil(L / tokens), ceil(cost / cost cap)) ranks, and the one with its last row needs
// keys that each of the others owns. Fetched from their owners, these are k - 1 messages. Where others may pass them on, they
// can come in one message, but not at once: when no rank receives more than one message per round, it knows of the tokens of at
// most 2^r ranks after r rounds, so rounds >= log2 k. (Our derivation.)
#pragma once

#include <vector>

#include "planner/placement/bounds/rank_caps.hpp"

namespace hsap {

/// What a message costs however small it is.
struct MessageCosts {
  double link_seconds = 0;         ///< from its first byte sent to its first byte there
  double seconds_per_message = 0;  ///< for which it keeps its receiver's link or processor from the next one
};

struct LatencyBound {
  int ranks = 1;              ///< k of the longest document: fewest ranks on which it can lie
  int direct_messages = 0;    ///< that the rank with its last row receives when keys come from their owners
  int relayed_rounds = 0;     ///< when ranks pass keys on and receive one message per round
  double direct_seconds = 0;  ///< one link and direct_messages messages
  double any_seconds = 0;     ///< one link and one message, whoever sends it; 0 when nothing needs to be sent
};
/// Nothing is sent when no document must be cut.
LatencyBound latency_bound(const std::vector<Token>& lengths, const RankCaps& caps, const MessageCosts& costs);

}  // namespace hsap
