// The oracle: slow, obvious, single-device attention in double precision, forward and backward.
#pragma once

#include <vector>

#include "backend/executor.hpp"
#include "planner/ir/document_mask.hpp"

namespace hsap {

/// Everything in double, results rounded to fp32 at the end. O(pairs x heads x width). Every (query, key) pair is visited by name.
LayerResults reference_attention(const AttentionShape& shape, const DocumentMask& mask, const LayerInputs& inputs);

/// Largest |result - reference| over the largest |reference| of each tensor.
struct RelativeErrors {
  double o = 0, d_q = 0, d_k = 0, d_v = 0;
  double largest() const;
  /// How much was compared: "all rows", or "512 of 131072 query rows and 64 key rows, 4 of 32 heads".
  std::string coverage;
};
RelativeErrors compare_all(const LayerResults& results, const LayerResults& reference);

/// The same on a random sample of rows and heads chosen by `seed`, spending about `pair_budget` (query, key) pairs on the oracle.
/// Checks all rows when the batch is within the budget.
RelativeErrors compare_sampled(const AttentionShape& shape, const DocumentMask& mask, const LayerInputs& inputs,
                               const LayerResults& results, double pair_budget, std::uint64_t seed);

}  // namespace hsap
