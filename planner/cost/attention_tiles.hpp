// How a tiled attention kernel sees one Attend: which tiles of query rows x keys hold at least one pair of the mask. Kernels
// compute whole tiles, so this, not the number of pairs, is what their time follows. Used by KernelTimes.
#pragma once

#include <cstdint>

#include "planner/ir/document_mask.hpp"
#include "planner/ir/token_set.hpp"

namespace hsap {

/// A thread block takes `rows` query rows of one document and walks over its keys in steps of `keys`. A row is a (token, query
/// head) pair: the query heads of one kv head are packed into the same tile (as FlashAttention-3 does for variable-length
/// batches).
struct TileShape {
  int rows = 128;
  int keys = 128;
};

/// Counts for one kv head.
struct TileCount {
  std::int64_t blocks = 0;         ///< query tiles with any keys to walk over: thread blocks
  std::int64_t tiles = 0;          ///< steps of all blocks
  std::int64_t longest_block = 0;  ///< steps of the longest block

  bool operator==(const TileCount&) const = default;
};

/// The rows of `queries` against the rows of `keys` under the mask. A document's rows are compact on both sides: two documents
/// never share a tile, two pieces of one document may. Each block walks from the first key that its first row may see to the
/// last that its last row may see, as kernels do, and, as hsap's own do, over the sinks of its last row apart. Example: tiles
/// of 128 x 128, one query head per kv head, one document of 300 tokens against itself: 3 blocks of 1, 2, 3 steps. O(query
/// tiles x log of the intervals of `keys` + documents touched x log of documents).
TileCount count_tiles(const DocumentMask& mask, const TokenSet& queries, const TokenSet& keys, int query_heads_per_kv_head,
                      TileShape tile);

}  // namespace hsap
