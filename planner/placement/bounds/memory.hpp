// Bounds by memory: on how few ranks a batch fits, and how tight a token cap can be. Any mask, any plan in which a token's
// activations stay where the token lies.
//
// Why. Ranks hold T tokens together, whole ones, so some rank holds at least ceil(T / P): no cap below that can be met, and
// that one can (cut the pack into equal shards). A rank has room for floor((memory - states) / bytes per token). (Plain
// counting.)
#pragma once

#include "planner/ir/ids.hpp"

namespace hsap {

/// A rank's memory, in bytes, and what it is filled with.
struct RankMemory {
  double bytes = 0;
  double state_bytes = 0;      ///< weights, gradients, optimizer: whatever does not depend on tokens
  double bytes_per_token = 0;  ///< activations of all layers that are kept; > 0
};

/// Tokens that fit a rank. Throws InvalidInput when the states alone fill it, or bytes_per_token is not above 0.
Token most_tokens_of_a_rank(const RankMemory& memory);
/// Ranks that `tokens` tokens need. Throws InvalidInput when not even one token fits a rank.
Token fewest_ranks(Token tokens, const RankMemory& memory);

/// The least token_cap (tokens of the fullest rank over the mean) that a placement on `ranks` ranks can meet: ceil(T / P) P /
/// T. 1 without tokens. Throws InvalidInput when ranks < 1.
double smallest_token_cap(Token tokens, int ranks);

/// Bytes of the received keys and values that the rank with the last row of a causal document of `length` tokens has at once
/// unless it attends to them in turn, of which two chunks are enough: all of the document that it does not hold.
double gathered_bytes(Token length, Token most_tokens_of_a_rank, double bytes_per_kv_token);

}  // namespace hsap
