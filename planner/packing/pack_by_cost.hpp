// The packing of our own: documents to replicas by what they cost, attention and linear work, and those of a replica to
// micro-batches by cost under the cap on tokens. Balancing tokens alone leaves the replica with the long documents behind
// (WLB-LLM, arXiv 2503.17924, balances micro-batches by such a cost; here it is the replicas' sums that count, so that
// micro-batches of different replicas need not be alike).
#pragma once

#include <vector>

#include "planner/packing/packing.hpp"
#include "planner/packing/step_model.hpp"

namespace hsap {

/// Replicas get equal cost as closely as balance() can; a replica has as few micro-batches as balance() finds room in, none of
/// more than `most_tokens` unless a document is longer. Each replica's micro-batches are in the order of their first documents.
/// O(n log n). @pre most_tokens >= 1, no document is longer than the capacity
StepPacking pack_by_cost(const StepModel& model, const std::vector<Token>& lengths, Token most_tokens);

}  // namespace hsap
