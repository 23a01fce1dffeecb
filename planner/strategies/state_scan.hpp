// States handed on by a pipelined scan (ZeCO's All-Scan, arXiv 2507.01004; known to us second-hand, from what others write of
// it). Every rank sums up its own rows first, so that inside the chain a hop only adds two states; and the state travels in K
// blocks of kv heads, so that while one block is under way the one before it is added and sent on: tau + (P-1) tau / K for a
// state that takes tau to send. Bytes as those of a chain: one state per direction and straddled boundary. Shared by zeco and
// hsap.
//
// The adds need the compute stream, which attention holds. So the rank at hop i of n attends i/n of its heads before it adds
// and the others after (our choice): the scan moves along under the attention of all ranks where that is long enough.
#pragma once

#include <vector>

#include "planner/strategies/inner_attention.hpp"

namespace hsap {

/// Numbers of blocks, ascending, in which a state of that many kv heads can travel.
std::vector<int> scan_stages(int kv_heads);

/// `chain` in token order; each view holds one range of tokens or none; together they hold the batch. `stages`: blocks of a
/// state; 0: as many as there may be. Throws InvalidInput when they do not divide the kv heads of a view, listing those that
/// do.
void state_scan(ProgramBuilder& builder, const std::vector<View>& chain, int stages);

}  // namespace hsap
