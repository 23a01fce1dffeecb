// How the blocks of a ring's step get from rank to rank.
#pragma once

#include <functional>
#include <vector>

#include "planner/strategies/program_builder.hpp"

namespace hsap {

/// Slices of one rank that go to another; `out` and `in` name the same parts.
struct Hop {
  RankId from = 0;
  RankId to = 0;
  std::vector<Slice> out, in;
};

/// Emits the exchanges that carry out the hops of one step, all ranks' together. A rank sends one hop and receives one.
using PassOn = std::function<void(ProgramBuilder& builder, Phase phase, int step, const std::vector<Hop>& hops)>;

/// One message per hop, one exchange per rank.
void pass_directly(ProgramBuilder& builder, Phase phase, int step, const std::vector<Hop>& hops);
/// The same on another communication stream.
void pass_on_stream(ProgramBuilder& builder, int stream, Phase phase, int step, const std::vector<Hop>& hops);

}  // namespace hsap
