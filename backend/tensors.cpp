#include "backend/tensors.hpp"

#include <cmath>

#include "planner/ir/errors.hpp"

namespace hsap {

namespace {

/// SplitMix64 (Steele, Lea, Flood 2014), a well-mixed function of a counter.
std::uint64_t mixed(std::uint64_t counter) {
  std::uint64_t z = counter * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

/// Sum of twelve numbers uniform in [0, 1), minus 6 (Irwin-Hall): mean 0, variance 1. Integer arithmetic until the last step.
float near_normal(std::uint64_t counter) {
  std::int64_t sum = 0;
  for (std::uint64_t word = 0; word < 3; ++word) {
    const std::uint64_t bits = mixed(3 * counter + word + 1);
    sum += static_cast<std::int64_t>((bits & 0xFFFF) + (bits >> 16 & 0xFFFF) + (bits >> 32 & 0xFFFF) + (bits >> 48));
  }
  return static_cast<float>(sum - 6 * 65536 + 6) / 65536.0f;  // + 6: the mean of 16 random bits is 32767.5
}

HostTensor random_tensor(Token tokens, int heads, int width, std::uint64_t stream) {
  HostTensor tensor = make_tensor(tokens, heads, width);
  std::uint64_t counter = mixed(stream + 1);
  for (float& value : tensor.values) value = near_normal(counter++);
  return tensor;
}

std::string shape_text(Token tokens, int heads, int width) {
  return "[" + std::to_string(tokens) + ", " + std::to_string(heads) + ", " + std::to_string(width) + "]";
}

void check_shape(const std::string& name, const HostTensor& tensor, Token tokens, int heads, int width) {
  if (tensor.tokens != tokens || tensor.heads != heads || tensor.width != width)
    throw InvalidInput(name + ": found shape " + shape_text(tensor.tokens, tensor.heads, tensor.width) + ", expected " +
                       shape_text(tokens, heads, width) + " [tokens, heads, width] as batch and layer have it");
  if (tensor.values.size() != static_cast<std::size_t>(tokens * heads * width))
    throw InvalidInput(name + ": found " + std::to_string(tensor.values.size()) + " values, expected " +
                       std::to_string(tokens * heads * width) + " for shape " + shape_text(tokens, heads, width));
}

void check_finite(const std::string& name, const HostTensor& tensor) {
  if (const std::string place = first_not_finite(tensor); !place.empty())
    throw InvalidInput(name + ": the value at " + place + " is not finite; attention would spread it, give finite values");
}

}  // namespace

HostTensor make_tensor(Token tokens, int heads, int width) {
  return {tokens, heads, width, std::vector<float>(static_cast<std::size_t>(tokens * heads * width))};
}

LayerInputs random_inputs(const AttentionShape& shape, Token tokens, std::uint64_t seed) {
  return {random_tensor(tokens, shape.query_heads, shape.qk_dim, 4 * seed),
          random_tensor(tokens, shape.kv_heads, shape.qk_dim, 4 * seed + 1),
          random_tensor(tokens, shape.kv_heads, shape.v_dim, 4 * seed + 2),
          random_tensor(tokens, shape.query_heads, shape.v_dim, 4 * seed + 3)};
}

void check_inputs(const AttentionShape& shape, Token tokens, const LayerInputs& inputs) {
  check_shape("input q", inputs.q, tokens, shape.query_heads, shape.qk_dim);
  check_shape("input k", inputs.k, tokens, shape.kv_heads, shape.qk_dim);
  check_shape("input v", inputs.v, tokens, shape.kv_heads, shape.v_dim);
  check_shape("input d_o", inputs.d_o, tokens, shape.query_heads, shape.v_dim);
  check_finite("input q", inputs.q);
  check_finite("input k", inputs.k);
  check_finite("input v", inputs.v);
  check_finite("input d_o", inputs.d_o);
}

void check_results(const AttentionShape& shape, Token tokens, const LayerResults& results) {
  check_shape("result o", results.o, tokens, shape.query_heads, shape.v_dim);
  check_shape("result d_q", results.d_q, tokens, shape.query_heads, shape.qk_dim);
  check_shape("result d_k", results.d_k, tokens, shape.kv_heads, shape.qk_dim);
  check_shape("result d_v", results.d_v, tokens, shape.kv_heads, shape.v_dim);
}

std::string first_not_finite(const HostTensor& tensor) {
  for (Token token = 0; token < tensor.tokens; ++token)
    for (int head = 0; head < tensor.heads; ++head)
      for (int i = 0; i < tensor.width; ++i)
        if (!std::isfinite(row_of(tensor, token, head)[i]))
          return "token " + std::to_string(token) + ", head " + std::to_string(head);
  return {};
}

}  // namespace hsap
