#include "backend/reference.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "backend/reference_row.hpp"
#include "backend/tensors.hpp"

namespace hsap {

namespace {

double dot(const float* a, const float* b, int width) {
  double sum = 0;
  for (int i = 0; i < width; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

/// Sums of one tensor, in double. [tokens, heads, width]
struct Sums {
  Sums(Token token_count, int head_count, int element_count)
      : tokens(token_count),
        heads(head_count),
        width(element_count),
        values(static_cast<std::size_t>(tokens * heads * width)) {}
  double* row(Token token, int head) { return values.data() + (token * heads + head) * width; }
  HostTensor rounded() const { return {tokens, heads, width, std::vector<float>(values.begin(), values.end())}; }
  Token tokens;
  int heads;
  int width;
  std::vector<double> values;
};

}  // namespace

void add_scaled(double factor, const float* row, int width, double* sum) {
  for (int i = 0; i < width; ++i) sum[i] += factor * static_cast<double>(row[i]);
}

ReferenceRow reference_row(const AttentionShape& shape, const DocumentMask& mask, const LayerInputs& inputs, Token query,
                           int head) {
  const int kv_head = head / shape.queries_per_kv_head();
  ReferenceRow row;
  const VisibleKeys visible = mask.visible_keys(query);
  for (const TokenRange& range : {visible.sinks, visible.main})
    for (Token key = range.begin; key < range.end; ++key) row.keys.push_back(key);
  for (const Token key : row.keys) {
    row.weight.push_back(dot(row_of(inputs.q, query, head), row_of(inputs.k, key, kv_head), shape.qk_dim));
    row.d_score.push_back(dot(row_of(inputs.d_o, query, head), row_of(inputs.v, key, kv_head), shape.v_dim));
  }
  if (shape.kind == AttentionKind::linear) {
    const double rate = decay_rate(shape, kv_head);
    for (std::size_t i = 0; i < row.weight.size(); ++i) {
      const double left = std::exp(-rate * static_cast<double>(query - row.keys[i]));
      row.weight[i] *= left;
      row.d_score[i] *= left;
    }
    return row;
  }

  const double scale = 1 / std::sqrt(static_cast<double>(shape.qk_dim));
  const double largest = *std::max_element(row.weight.begin(), row.weight.end());
  double sum = 0;
  for (double& weight : row.weight) sum += weight = std::exp(scale * (weight - largest));
  for (double& weight : row.weight) weight /= sum;
  double expected = 0;
  for (std::size_t i = 0; i < row.weight.size(); ++i) expected += row.weight[i] * row.d_score[i];
  for (std::size_t i = 0; i < row.weight.size(); ++i) row.d_score[i] = scale * row.weight[i] * (row.d_score[i] - expected);
  return row;
}

LayerResults reference_attention(const AttentionShape& shape, const DocumentMask& mask, const LayerInputs& inputs) {
  check_inputs(shape, mask.tokens(), inputs);
  Sums o(mask.tokens(), shape.query_heads, shape.v_dim);
  Sums d_q(mask.tokens(), shape.query_heads, shape.qk_dim);
  Sums d_k(mask.tokens(), shape.kv_heads, shape.qk_dim);
  Sums d_v(mask.tokens(), shape.kv_heads, shape.v_dim);
  for (int head = 0; head < shape.query_heads; ++head) {
    const int kv_head = head / shape.queries_per_kv_head();
    for (Token query = 0; query < mask.tokens(); ++query) {
      const ReferenceRow row = reference_row(shape, mask, inputs, query, head);
      for (std::size_t i = 0; i < row.keys.size(); ++i) {
        const Token key = row.keys[i];
        const double weight = row.weight[i];
        const double d_score = row.d_score[i];
        add_scaled(weight, row_of(inputs.v, key, kv_head), shape.v_dim, o.row(query, head));
        add_scaled(weight, row_of(inputs.d_o, query, head), shape.v_dim, d_v.row(key, kv_head));
        add_scaled(d_score, row_of(inputs.k, key, kv_head), shape.qk_dim, d_q.row(query, head));
        add_scaled(d_score, row_of(inputs.q, query, head), shape.qk_dim, d_k.row(key, kv_head));
      }
    }
  }
  return {o.rounded(), d_q.rounded(), d_k.rounded(), d_v.rounded()};
}

}  // namespace hsap
