// The oracle: slow, obvious, single-device attention in double precision, forward and backward.
#pragma once

#include <cstdint>
#include <string>

#include "backend/executor.hpp"
#include "planner/ir/document_mask.hpp"

namespace hsap {

/// Everything in double, results rounded to fp32 at the end. O(pairs x heads x width). Every (query, key) pair is visited by
/// name. Throws InvalidInput when the inputs' shapes do not fit `shape` and `mask`.
LayerResults reference_attention(const AttentionShape& shape, const DocumentMask& mask, const LayerInputs& inputs);

/// Largest |result - reference| over the largest |reference| of each tensor (over 1 where the reference is zero everywhere: d_q
/// and d_k of documents of one token). A result that is not a number counts as infinitely wrong.
struct RelativeErrors {
  double o = 0, d_q = 0, d_k = 0, d_v = 0;
  double largest() const;
  /// How much was compared: "all rows", or "sampled: 2620 of 129280 rows x heads of O and dQ, 16 of 32320 of dK and dV".
  std::string coverage;
};
/// Throws InvalidInput when the shapes differ.
RelativeErrors compare_all(const LayerResults& results, const LayerResults& reference);

/// The same on a random sample of rows and heads chosen by `seed`, spending about `pair_budget` (query, key) pairs on the
/// oracle: half on query rows (o, d_q; uniformly chosen), half on key rows (d_k, d_v; each needs the whole row of every query
/// that sees it, so key rows whose cost does not fit are replaced by later ones of their document). At least one row of each
/// kind is checked. Checks all rows when the batch is within the budget.
RelativeErrors compare_sampled(const AttentionShape& shape, const DocumentMask& mask, const LayerInputs& inputs,
                               const LayerResults& results, double pair_budget, std::uint64_t seed);

}  // namespace hsap
