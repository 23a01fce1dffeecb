// A Timeline in Chrome's trace format ("Trace Event Format", complete events): opens in Perfetto and chrome://tracing.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "planner/inputs/cluster_topology.hpp"
#include "planner/ir/timeline.hpp"

namespace hsap {

/// A process per rank, a thread per stream; the backward phase begins where forward ends. Times in microseconds. Events carry
/// bytes, FLOPs and peers.
nlohmann::ordered_json chrome_trace(const Schedule& schedule, const Timeline& timeline, const ClusterTopology& cluster);

}  // namespace hsap
