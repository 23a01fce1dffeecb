// One packed batch: many documents on one token axis, and how document lengths become batches.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "planner/ir/document_mask.hpp"

namespace hsap {

/// @law offsets start at 0, strictly ascend, and the last one is the token count.
struct PackedBatch {
  std::vector<Token> offsets{0};
  Token tokens() const { return offsets.back(); }
  std::size_t documents() const { return offsets.size() - 1; }
  DocumentMask mask(const MaskRule& rule = {}) const { return DocumentMask(offsets, rule); }
  bool operator==(const PackedBatch&) const = default;
};

/// What packing did with the documents, for the report: nothing is split or dropped silently.
struct PackingReport {
  std::size_t documents = 0;        ///< non-empty documents that arrived
  std::size_t split_documents = 0;  ///< longer than the batch, cut into batch-sized pieces and a rest
  std::size_t batches = 0;
  Token unused_tokens = 0;           ///< room left in the batches, all together
  std::vector<std::string> remarks;  ///< one line each, ready to print
};

struct Packing {
  std::vector<PackedBatch> batches;
  PackingReport report;
};

/// First-fit in arrival order: each document goes to the first batch with room. Documents longer than `tokens` are split into
/// pieces of `tokens` and a rest, and that is reported. O(n log batches). Throws InvalidInput when tokens < 1 or no document
/// has tokens.
Packing pack_first_fit(const std::vector<Token>& lengths, Token tokens);

}  // namespace hsap
