// The sizes of one attention layer: what the IR needs to know of a model. ModelShape (planner/inputs) holds one per layer kind.
#pragma once

#include <string>

#include "planner/ir/mask_rule.hpp"

namespace hsap {

enum class DType { bf16, fp16, fp32 };
/// Bytes of one element: 2, 2, 4.
double bytes_per_element(DType dtype);
std::string to_string(DType dtype);
/// Throws InvalidInput listing the names that work.
DType parse_dtype(const std::string& name);

enum class AttentionKind {
  softmax,  ///< o_t = sum_s softmax_s(q_t . k_s / sqrt(qk_dim)) v_s
  linear,   ///< o_t = sum_s (q_t . k_s) v_s: no softmax, no scale, no decay; the state of a document is sum_s k_s^T v_s
};
std::string to_string(AttentionKind kind);

/// Query head h reads key/value head h / (query_heads / kv_heads) (GQA; MQA has kv_heads 1, MHA query_heads).
struct AttentionShape {
  AttentionKind kind = AttentionKind::softmax;
  int query_heads = 0;
  int kv_heads = 0;  ///< divides query_heads
  int qk_dim = 0;    ///< elements of one q or k head
  int v_dim = 0;     ///< elements of one v or o head (differs from qk_dim under MLA)
  DType dtype = DType::bf16;
  MaskRule mask;  ///< which keys of its document a query sees

  int queries_per_kv_head() const { return query_heads / kv_heads; }
  bool operator==(const AttentionShape&) const = default;
};

}  // namespace hsap
