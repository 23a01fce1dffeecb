// The modelled time of a layer under a placement, as planbench/common.py has it: attention and communication overlap perfectly,
// a token's linear work comes on top, and the slowest rank counts. A model for comparing placements, not a prediction:
// planner/cost and sim have those.
#pragma once

#include "planner/placement/layer_costs.hpp"
#include "planner/placement/measures/traffic.hpp"

namespace hsap {

enum class KvExchange {
  direct,        ///< every rank fetches the keys that it needs from their owners, those of its node over the island
  hierarchical,  ///< a key enters a node once, over one of its NICs, each taking its share; all that a rank needs passes the
                 ///< island
};

/// max over ranks of max(attention, communication) + linear work, in seconds.
///   direct:        communication = max(from the own node / island, from other nodes / NIC, sent / island)
///   hierarchical:  communication = max(what enters the node / its NICs, received / island)
double layer_seconds(const Traffic& traffic, const LayerCosts& layer, KvExchange exchange);

}  // namespace hsap
