// The mask as seen by a kernel: for rows stored without gaps, the keys that a query may see are one interval of key rows, or
// two where the mask has sinks. And where rows lie in the batch, which decay needs.
#pragma once

#include <vector>

#include "backend/slice_view.hpp"
#include "planner/ir/document_mask.hpp"

namespace hsap {

/// [set.size()]: the tokens of a set, ascending: where each row of a slice lies in the batch.
std::vector<Index> row_tokens(const TokenSet& set);

/// Rows of a slice with tokens `keys` that each row of a slice with tokens `queries` sees. Intervals may be empty, and no end
/// descends from one row to the next.
struct VisibleRows {
  std::vector<RowInterval> main;   ///< [queries.size()]
  std::vector<RowInterval> sinks;  ///< [queries.size()], or empty when the mask has no sinks

  const RowInterval* sinks_or_null() const { return sinks.empty() ? nullptr : sinks.data(); }
};

/// O(rows + intervals). Example: one document [0, 9), queries {[4, 6)}, keys {[0, 2), [5, 9)}, causal -> main {[0, 2), [0, 3)}.
VisibleRows visible_rows(const DocumentMask& mask, const TokenSet& queries, const TokenSet& keys);

}  // namespace hsap
