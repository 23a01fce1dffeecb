// The layer of kLlama3Layer as a schedule that has to run: hsap's own order of steps, on links that messages share.
#pragma once

#include "planner/placement/layer_costs.hpp"
#include "planner/placement/placement.hpp"
#include "planner/strategies/strategy.hpp"

namespace hsap {

inline constexpr int kBenchRanksPerNode = 8;

/// The layer of kLlama3Layer over the documents, on nodes of kBenchRanksPerNode ranks.
Problem bench_problem(const DocumentMask& mask, int ranks);

/// Seconds of the layer's forward until the last rank is done, as simulated (sim/simulate.hpp): strategy hsap 1xP with this
/// placement and these options of the exchange, attention and linear work at the constant rates of kLlama3Layer, other kernels
/// in no time; the island's speed for each rank in and out, one NIC for each rank, a network without a bottleneck, no
/// latencies.
double simulated_layer_seconds(const Problem& problem, const Placement& placement, const StrategyOptions& options);

}  // namespace hsap
