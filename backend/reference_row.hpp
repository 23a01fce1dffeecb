// One query row of one head in double precision: the textbook formulas that the whole oracle is made of.
#pragma once

#include <vector>

#include "backend/executor.hpp"
#include "planner/ir/document_mask.hpp"

namespace hsap {

/// The pairs of one query of one query head. [visible keys] each.
/// softmax: weight = p = softmax(q.k / sqrt(qk_dim)), d_score = p (d_o.v - sum_keys p d_o.v) / sqrt(qk_dim)
/// linear:  weight = lambda^(query - key) q.k, d_score = lambda^(query - key) d_o.v (lambda: decay_rate)
/// so that in both cases o = sum weight v, d_v += weight d_o, d_q = sum d_score k, d_k += d_score q.
struct ReferenceRow {
  std::vector<Token> keys;  ///< ascending
  std::vector<double> weight;
  std::vector<double> d_score;
};
ReferenceRow reference_row(const AttentionShape& shape, const DocumentMask& mask, const LayerInputs& inputs, Token query,
                           int head);

/// sum += factor * row[0 .. width-1]
void add_scaled(double factor, const float* row, int width, double* sum);

}  // namespace hsap
