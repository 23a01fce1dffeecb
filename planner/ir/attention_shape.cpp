#include "planner/ir/attention_shape.hpp"

#include <cmath>
#include <sstream>

#include "planner/ir/errors.hpp"

namespace hsap {

double bytes_per_element(DType dtype) { return dtype == DType::fp32 ? 4 : 2; }

std::string to_string(DType dtype) {
  switch (dtype) {
    case DType::bf16:
      return "bf16";
    case DType::fp16:
      return "fp16";
    case DType::fp32:
      return "fp32";
  }
  return {};
}

DType parse_dtype(const std::string& name) {
  for (const DType dtype : {DType::bf16, DType::fp16, DType::fp32})
    if (name == to_string(dtype)) return dtype;
  throw InvalidInput("dtype: found \"" + name + "\", expected bf16, fp16 or fp32");
}

std::string to_string(AttentionKind kind) { return kind == AttentionKind::softmax ? "softmax" : "linear"; }

double decay_rate(const AttentionShape& shape, int kv_head) {
  return shape.decay * std::exp2(-8.0 * (kv_head + 1) / shape.kv_heads);
}

void check_decay(const AttentionShape& shape) {
  if (shape.decay == 0) return;
  const bool is_rate = shape.decay > 0 && std::isfinite(shape.decay);
  if (is_rate && shape.kind == AttentionKind::linear && shape.mask.is_causal()) return;
  std::ostringstream text;
  text << "attention shape: decay is " << shape.decay << ", ";
  if (!is_rate)
    text << "expected 0 (none) or a positive, finite scale of the decay rates";
  else if (shape.kind == AttentionKind::linear)
    text << "and the mask " << to_string(shape.mask)
         << " shows later keys, which cannot have decayed; expected a causal mask, or 0";
  else
    text << "but " << to_string(shape.kind) << " attention has none; expected 0, or a linear layer";
  throw InvalidInput(text.str());
}

}  // namespace hsap
