// Ring hops that use every NIC of a node (Zeppelin, second-hand: dispatch to proxies, send over many NICs, combine). A flat
// ring has one hop per node boundary, on one NIC; here its sender deals the rows out to the ranks of its node, each sends its
// share to its counterpart in the other node, and there all go to the receiver. Of a hop of B bytes between nodes of w ranks
// each NIC carries B / w; the sender and the receiver move (w-1)/w B more inside their nodes.
#pragma once

#include <vector>

#include "planner/strategies/ring_hops.hpp"

namespace hsap {

/// `node_of_rank` as in Problem. Hops inside a node are passed directly.
PassOn pass_over_all_nics(std::vector<int> node_of_rank);

}  // namespace hsap
