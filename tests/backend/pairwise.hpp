// Partial attention pair by pair in double, for tests of kernels: the formulas of planner/ir/schedule.hpp at the ops Attend and
// AttendBackward, on tensors of the whole batch. Rows and heads that are not named stay zero.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "backend/tensors.hpp"
#include "planner/ir/document_mask.hpp"
#include "tests/mask_rules.hpp"

namespace hsap {

/// What backend tests accept: largest error over largest reference value, fp32 against double.
inline constexpr double kTolerance = 1e-5;

/// |a - b| over max |b|, infinity for NaN; equal infinities count as equal.
inline double relative_error(const std::vector<float>& a, const std::vector<float>& b) {
  double error = 0;
  double scale = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    if (a[i] == b[i]) continue;
    const double difference = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    error = std::max(error, std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference);
  }
  for (const float value : b)
    if (std::isfinite(value)) scale = std::max(scale, std::abs(static_cast<double>(value)));
  return error / (scale > 0 ? scale : 1);
}

inline std::vector<Token> tokens_of(const TokenSet& set) {
  std::vector<Token> tokens;
  for (const TokenRange& range : set.ranges())
    for (Token token = range.begin; token < range.end; ++token) tokens.push_back(token);
  return tokens;
}

struct PartialForward {
  HostTensor o, lse;
};
struct PartialBackward {
  HostTensor d_q, d_k, d_v;
};

class Pairwise {
 public:
  Pairwise(const AttentionShape& shape, const DocumentMask& mask, const LayerInputs& inputs)
      : shape_(shape), mask_(mask), inputs_(inputs) {}

  PartialForward forward(const TokenSet& queries, const TokenSet& keys, const HeadRange& heads) const {
    PartialForward part{make_tensor(mask_.tokens(), shape_.query_heads, shape_.v_dim),
                        make_tensor(mask_.tokens(), shape_.query_heads, 1)};
    for (const Token query : tokens_of(queries))
      for (int head = heads.begin; head < heads.end; ++head) {
        double sum = 0;
        std::vector<double> o(static_cast<std::size_t>(shape_.v_dim));
        for (const Token key : tokens_of(keys)) {
          if (!test::sees(mask_, query, key)) continue;
          const double weight =
              softmax() ? std::exp(score(query, key, head)) : left(query, key, head) * score(query, key, head);
          sum += weight;
          for (std::size_t i = 0; i < o.size(); ++i) o[i] += weight * static_cast<double>(row_of(inputs_.v, key, kv(head))[i]);
        }
        for (std::size_t i = 0; i < o.size(); ++i)
          row_of(part.o, query, head)[i] = static_cast<float>(softmax() && sum > 0 ? o[i] / sum : o[i]);
        row_of(part.lse, query, head)[0] = static_cast<float>(std::log(sum));
      }
    return part;
  }

  /// o and lse merged over all keys.
  PartialBackward backward(const TokenSet& queries, const TokenSet& keys, const HeadRange& heads,
                           const PartialForward& merged) const {
    std::vector<double> d_q(inputs_.q.values.size());
    std::vector<double> d_k(inputs_.k.values.size());
    std::vector<double> d_v(inputs_.v.values.size());
    const double scale = softmax() ? 1 / std::sqrt(shape_.qk_dim) : 1;
    for (const Token query : tokens_of(queries))
      for (int head = heads.begin; head < heads.end; ++head) {
        const float* d_o = row_of(inputs_.d_o, query, head);
        const double delta = dot(d_o, row_of(merged.o, query, head), shape_.v_dim);
        for (const Token key : tokens_of(keys)) {
          if (!test::sees(mask_, query, key)) continue;
          const double d_weight = dot(d_o, row_of(inputs_.v, key, kv(head)), shape_.v_dim);
          const double s = score(query, key, head);
          const double decay = left(query, key, head);
          const double weight = softmax() ? std::exp(s - static_cast<double>(row_of(merged.lse, query, head)[0])) : decay * s;
          const double d_score = softmax() ? scale * weight * (d_weight - delta) : decay * d_weight;
          for (int i = 0; i < shape_.qk_dim; ++i) {
            at(d_q, inputs_.q, query, head, i) += d_score * static_cast<double>(row_of(inputs_.k, key, kv(head))[i]);
            at(d_k, inputs_.k, key, kv(head), i) += d_score * static_cast<double>(row_of(inputs_.q, query, head)[i]);
          }
          for (int i = 0; i < shape_.v_dim; ++i) at(d_v, inputs_.v, key, kv(head), i) += weight * static_cast<double>(d_o[i]);
        }
      }
    return {rounded(inputs_.q, d_q), rounded(inputs_.k, d_k), rounded(inputs_.v, d_v)};
  }

 private:
  static double dot(const float* a, const float* b, int width) {
    double sum = 0;
    for (int i = 0; i < width; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    return sum;
  }
  static double& at(std::vector<double>& values, const HostTensor& like, Token token, int head, int i) {
    return values[static_cast<std::size_t>((token * like.heads + head) * like.width + i)];
  }
  static HostTensor rounded(const HostTensor& like, const std::vector<double>& values) {
    return {like.tokens, like.heads, like.width, {values.begin(), values.end()}};
  }
  bool softmax() const { return shape_.kind == AttentionKind::softmax; }
  int kv(int head) const { return head / shape_.queries_per_kv_head(); }
  /// lambda^(query - key)
  double left(Token query, Token key, int head) const {
    return std::pow(std::exp(-decay_rate(shape_, kv(head))), static_cast<double>(query - key));
  }
  double score(Token query, Token key, int head) const {
    return dot(row_of(inputs_.q, query, head), row_of(inputs_.k, key, kv(head)), shape_.qk_dim) /
           (softmax() ? std::sqrt(shape_.qk_dim) : 1);
  }

  const AttentionShape& shape_;
  const DocumentMask& mask_;
  const LayerInputs& inputs_;
};

}  // namespace hsap
