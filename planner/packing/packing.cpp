#include "planner/packing/packing.hpp"

namespace hsap {

std::vector<Token> lengths_of(const MicroBatch& micro_batch, const std::vector<Token>& lengths) {
  std::vector<Token> result;
  result.reserve(micro_batch.size());
  for (const std::size_t document : micro_batch) result.push_back(lengths[document]);
  return result;
}

Token tokens_of(const MicroBatch& micro_batch, const std::vector<Token>& lengths) {
  Token tokens = 0;
  for (const std::size_t document : micro_batch) tokens += lengths[document];
  return tokens;
}

}  // namespace hsap
