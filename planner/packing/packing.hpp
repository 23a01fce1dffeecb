// The batch level: which documents of a global batch go through which ranks in which micro-batch. A global batch is what the
// data loader hands out for one step; a document stays in its global batch, because moving it to another would change what the
// model is trained on. Ranks are cut into replicas of consecutive ranks; a replica takes its micro-batches one after the other
// and adds up gradients, and replicas meet at the end of the step. One replica of all ranks is the flat pool in which every
// document gets the ranks that its cost is worth (ByteScale's hybrid data parallelism, FlexSP).
#pragma once

#include <cstddef>
#include <vector>

#include "planner/ir/ids.hpp"

namespace hsap {

/// Documents by their place in the global batch, ascending; never empty.
using MicroBatch = std::vector<std::size_t>;
/// In the order in which they are run; none: the replica has nothing to do in this step.
using Replica = std::vector<MicroBatch>;
/// @law every document of the global batch is in one micro-batch of one replica
using StepPacking = std::vector<Replica>;

/// Lengths of the documents of a micro-batch.
std::vector<Token> lengths_of(const MicroBatch& micro_batch, const std::vector<Token>& lengths);
/// Tokens of all of them.
Token tokens_of(const MicroBatch& micro_batch, const std::vector<Token>& lengths);

}  // namespace hsap
