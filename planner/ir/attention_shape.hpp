// The sizes of one attention layer: what the IR needs to know of a model. ModelShape (planner/inputs) holds one per layer kind.
#pragma once

#include <cstdint>
#include <string>

#include "planner/ir/mask_rule.hpp"

namespace hsap {

enum class DType : std::uint8_t { bf16, fp16, fp32 };
/// Bytes of one element: 2, 2, 4.
double bytes_per_element(DType dtype);
std::string to_string(DType dtype);
/// Throws InvalidInput listing the names that work.
DType parse_dtype(const std::string& name);

enum class AttentionKind {
  softmax,  ///< o_t = sum_s softmax_s(q_t . k_s / sqrt(qk_dim)) v_s
  linear,   ///< o_t = sum_{s <= t} lambda^(t-s) (q_t . k_s) v_s: no softmax, no scale; lambda = 1 without decay
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
  MaskRule mask;     ///< which keys of its document a query sees
  double decay = 0;  ///< linear attention: scale of the decay rates (see decay_rate); 0 = no decay

  int queries_per_kv_head() const { return query_heads / kv_heads; }
  bool operator==(const AttentionShape&) const = default;
};

/// Rate at which linear attention forgets, per token: lambda = exp(-rate) with rate = decay * 2^(-8 (h + 1) / kv_heads) of kv
/// head h (which the query heads of its group share). Those are ALiBi's slopes, as Lightning Attention takes them:
/// transformers' modeling_minimax.py (get_slope_rate) computes exactly this with as many kv heads as heads;
/// OpenNLPLab/lightning-attention's and MiniMax-Text-01's _build_slope_tensor agree when the heads are a power of two and
/// interleave two such series otherwise, which is not modelled. Both scale the slopes by 1 - l / (layers - 1) + 1e-5 in layer
/// l: that is `decay`, 1 in layer 0.
double decay_rate(const AttentionShape& shape, int kv_head);
/// Throws InvalidInput unless the decay is 0, or positive and finite on linear attention.
void check_decay(const AttentionShape& shape);

}  // namespace hsap
