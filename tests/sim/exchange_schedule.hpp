// Schedules made of messages only, and bare switches to run them on: for tests of the network part of the predictors.
#pragma once

#include <string>
#include <vector>

#include "planner/inputs/cluster_topology.hpp"
#include "planner/ir/schedule.hpp"

namespace hsap::test {

struct Flow {
  RankId from;
  RankId to;
  Token bytes;  ///< even: messages are made of bf16 elements
};
/// All flows of a rank in one round are one Exchange; a rank without any has none.
using Round = std::vector<Flow>;

/// Forward has the rounds, each rank's Exchanges in order on one stream; backward is empty. The tensors mean nothing: verify()
/// would refuse.
Schedule exchange_schedule(RankId ranks, const std::vector<Round>& rounds);
/// Index of the token set of so many tokens, added when it is new.
TokenSetId rows(Schedule& schedule, Token tokens);

/// One non-blocking switch, a full-duplex port per GPU.
ClusterTopology bare_switch(RankId gpus, const std::string& bandwidth = "50 GB/s", const std::string& latency = "5 us");

/// Ring all-gather: ranks - 1 rounds in which every rank sends `bytes` to the next.
std::vector<Round> ring(RankId ranks, Token bytes);
/// One round in which every rank sends `bytes` to every other.
std::vector<Round> all_to_all(RankId ranks, Token bytes);

inline constexpr Token kMiB = Token{1} << 20;
inline constexpr Token kGiB = Token{1} << 30;

}  // namespace hsap::test
