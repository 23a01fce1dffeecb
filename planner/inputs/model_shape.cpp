#include "planner/inputs/model_shape.hpp"

#include "planner/inputs/input_text.hpp"
#include "planner/ir/errors.hpp"

namespace hsap {

double LayerKind::known_linear_parameters() const {
  if (!linear_parameters) throw InvalidInput(linear_unknown);
  return *linear_parameters;
}

const LayerKind& ModelShape::kind(const std::string& wanted) const {
  std::vector<std::string> names;
  for (const LayerKind& kind : kinds) {
    if (kind.name == wanted) return kind;
    names.push_back(kind.name);
  }
  throw InvalidInput("model " + name + " has no layer kind " + shown(wanted) + "; it has: " + listed(names));
}

AttentionShape linear_counterpart(const AttentionShape& shape) {
  AttentionShape linear = shape;
  linear.kind = AttentionKind::linear;
  linear.mask = MaskRule{};
  return linear;
}

std::vector<int> head_parallel_degrees(const AttentionShape& shape) {
  std::vector<int> degrees;
  for (int degree = 1; degree <= shape.query_heads; ++degree) {
    const bool kv_heads_split = shape.kv_heads % degree == 0;
    const bool kv_heads_replicated = degree % shape.kv_heads == 0;
    if (shape.query_heads % degree == 0 && (kv_heads_split || kv_heads_replicated)) degrees.push_back(degree);
  }
  return degrees;
}

}  // namespace hsap
