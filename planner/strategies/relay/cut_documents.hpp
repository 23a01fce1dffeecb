// The documents that lie on more than one group, in pieces: all that groups have to talk about.
#pragma once

#include <cstddef>
#include <vector>

#include "planner/ir/document_mask.hpp"

namespace hsap {

/// Rows of one document that one group holds.
struct HeldPiece {
  std::size_t document = 0;
  TokenRange rows;
  int group = 0;
};

/// Pieces of all documents that no group holds whole, in token order. O(documents + pieces log pieces).
std::vector<HeldPiece> cut_documents(const DocumentMask& mask, const std::vector<const TokenSet*>& groups);

}  // namespace hsap
