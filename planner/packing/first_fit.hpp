// What data loaders do, to compare with: sequences of one length filled first-fit with documents as they come, dealt out to the
// replicas. Documents stay whole here too, as in every packing of this room.
#pragma once

#include <vector>

#include "planner/packing/packing.hpp"
#include "planner/packing/step_model.hpp"

namespace hsap {

/// Every document into the first sequence with room, in order; sequence s is a micro-batch of replica s mod replicas. Sequences
/// are as many for every replica, as few as `most_tokens` of a sequence allow (more only for a longer document), and as short
/// as that number of them allows within 0.1 %: a loader with a good choice of the sequence length. O(n log n) a few times over.
/// @pre most_tokens >= 1, no document is longer than the capacity
StepPacking first_fit_packing(const StepModel& model, const std::vector<Token>& lengths, Token most_tokens);

}  // namespace hsap
