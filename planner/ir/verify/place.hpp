// Where in a Schedule something is wrong, in words that a person finds again: the head of every message of verify().
#pragma once

#include <string>

#include "planner/ir/schedule.hpp"

namespace hsap::proof {

struct Place {
  const Schedule& schedule;
  RankId rank;
  Phase phase;
  const Op& op;
};

/// "rank 3, forward op 7 (exchange, step 2)"
std::string to_string(const Place& place);
/// "buffer 4 \"kv hop 3\" (k)"
std::string describe_buffer(const Schedule& schedule, RankId rank, BufferId buffer);
/// "[0, 64)", "[0, 64) [96, 128) and 7 more ranges", "no token"
std::string describe(const TokenSet& tokens);
/// "heads 0 to 7", "head 3", "no head"
std::string describe(const HeadRange& heads);

/// Throws InvalidInput "PLACE: what".
[[noreturn]] void refuse(const Place& place, const std::string& what);

}  // namespace hsap::proof
