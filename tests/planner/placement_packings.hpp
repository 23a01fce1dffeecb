// Packings and numbers of groups on which placements are tested.
#pragma once

#include <random>
#include <vector>

#include "planner/ir/document_mask.hpp"
#include "tests/planner/random_sets.hpp"

namespace hsap::test {

inline DocumentMask mask_of(const std::vector<Token>& lengths, const MaskRule& rule = {}) {
  std::vector<Token> offsets{0};
  for (const Token length : lengths) offsets.push_back(offsets.back() + length);
  return DocumentMask(std::move(offsets), rule);
}

/// Documents of very unequal lengths: log-uniform from 1 to 2^most_bits.
inline DocumentMask random_packing(std::mt19937& random, int documents, int most_bits, const MaskRule& rule) {
  std::vector<Token> lengths;
  for (int i = 0; i < documents; ++i) {
    const Token scale = Token{1} << draw(random, 0, most_bits - 1);
    lengths.push_back(scale + draw(random, 0, scale));
  }
  return mask_of(lengths, rule);
}

inline constexpr int kGroups[] = {1, 2, 3, 4, 5, 7, 8, 13, 16, 31, 32, 61, 64};

}  // namespace hsap::test
