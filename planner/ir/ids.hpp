// Names of things that the whole house counts: ranks, buffers, token sets, operations.
// A rank is a process of the plan (0 .. ranks-1); rank r runs on GPU r of the cluster it was planned for.
#pragma once

#include <cstdint>

namespace hsap {

using RankId = std::uint32_t;      ///< process of the plan
using BufferId = std::uint32_t;    ///< index into RankProgram::buffers, meaningful on one rank only
using TokenSetId = std::uint32_t;  ///< index into Schedule::token_sets
using OpIndex = std::uint32_t;     ///< position in the op list of one rank and one phase
using Token = std::int64_t;        ///< position on the packed token axis of the batch, or a count of tokens

}  // namespace hsap
