// Finds ops that would wait for ever, before any clock runs: whether an op can end does not depend on how long anything takes.
#pragma once

#include <vector>

#include "planner/cost/op_graph.hpp"

namespace hsap {

/// A send or receive that the other rank never answers.
struct LoneEnd {
  NodeId node;
  RankId peer;
  bool is_send;
};

/// Throws InvalidInput when not all ops can end: how many wait, and for the first three that hold up the others, on what.
void refuse_stuck_ops(const OpGraph& graph, const Schedule& schedule, Phase phase, const std::vector<LoneEnd>& lone);

}  // namespace hsap
