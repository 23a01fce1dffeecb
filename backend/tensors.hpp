// Host tensors of a layer: their rows, their shapes, and the numbers that may not be in them.
#pragma once

#include <string>

#include "backend/executor.hpp"

namespace hsap {

inline const float* row_of(const HostTensor& tensor, Token token, int head) {
  return tensor.values.data() + (token * tensor.heads + head) * tensor.width;
}
inline float* row_of(HostTensor& tensor, Token token, int head) {
  return tensor.values.data() + (token * tensor.heads + head) * tensor.width;
}

/// Zeros.
HostTensor make_tensor(Token tokens, int heads, int width);

/// Throws InvalidInput naming the tensor when q, k, v or d_o has other sizes than `shape` and `tokens` ask for, or, with token
/// and head, holds a value that is not finite.
void check_inputs(const AttentionShape& shape, Token tokens, const LayerInputs& inputs);

/// Throws InvalidInput naming the result with other sizes than `shape` and `tokens` ask for.
void check_results(const AttentionShape& shape, Token tokens, const LayerResults& results);

/// "token 5, head 2" of the first value that is not finite, empty when all are. O(elements).
std::string first_not_finite(const HostTensor& tensor);

}  // namespace hsap
