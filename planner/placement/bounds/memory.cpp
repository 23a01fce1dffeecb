#include "planner/placement/bounds/memory.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "planner/ir/errors.hpp"
#include "planner/ir/units.hpp"

namespace hsap {

Token most_tokens_of_a_rank(const RankMemory& memory) {
  if (!(memory.bytes_per_token > 0))
    throw InvalidInput("memory bound: bytes_per_token is " + std::to_string(memory.bytes_per_token) + ", expected more than 0");
  const double room = memory.bytes - memory.state_bytes;
  if (!(room >= 0))
    throw InvalidInput("memory bound: found " + format_bytes(memory.state_bytes) + " of states on a rank with " +
                       format_bytes(memory.bytes) + "; shard the states over more ranks");
  return static_cast<Token>(std::min(std::floor(room / memory.bytes_per_token), 9e18));
}

Token fewest_ranks(Token tokens, const RankMemory& memory) {
  const Token most = most_tokens_of_a_rank(memory);
  if (most == 0)
    throw InvalidInput("memory bound: found " + format_bytes(memory.bytes - memory.state_bytes) + " beside the states and " +
                       format_bytes(memory.bytes_per_token) +
                       " of activations per token, so that no token fits; keep fewer activations or shard the states");
  return tokens / most + (tokens % most == 0 ? 0 : 1);
}

double smallest_token_cap(Token tokens, int ranks) {
  if (ranks < 1) throw InvalidInput("memory bound: the number of ranks is " + std::to_string(ranks) + ", expected at least 1");
  if (tokens == 0) return 1;
  const Token fullest = tokens / ranks + (tokens % ranks == 0 ? 0 : 1);
  return static_cast<double>(fullest) * ranks / static_cast<double>(tokens);
}

double gathered_bytes(Token length, Token most_tokens_of_a_rank, double bytes_per_kv_token) {
  return static_cast<double>(std::max<Token>(0, length - most_tokens_of_a_rank)) * bytes_per_kv_token;
}

}  // namespace hsap
