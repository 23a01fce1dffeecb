// The mask as seen by a kernel: for rows stored without gaps, the keys that a query may see are one interval of key rows. And
// where rows lie in the batch, which decay needs.
#pragma once

#include <vector>

#include "backend/slice_view.hpp"
#include "planner/ir/document_mask.hpp"

namespace hsap {

/// [set.size()]: the tokens of a set, ascending: where each row of a slice lies in the batch.
std::vector<Index> row_tokens(const TokenSet& set);

/// [queries.size()]: rows of a slice with tokens `keys` that each row of a slice with tokens `queries` sees; possibly empty.
/// Both ends ascend. O(rows + intervals). Example: one document [0, 9), queries {[4, 6)}, keys {[0, 2), [5, 9)} -> {[0, 2), [0,
/// 3)}.
std::vector<RowInterval> visible_rows(const DocumentMask& mask, const TokenSet& queries, const TokenSet& keys);

}  // namespace hsap
