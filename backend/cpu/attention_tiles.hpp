// How attention is cut into tiles, forward and backward: blocks of query rows against blocks of key rows, each tile shrunk to
// the rows and columns that hold pairs, tiles without pairs left out. Compiled per instruction set (vector.hpp).
#pragma once

#include "backend/cpu/matrix_product.hpp"
#include "backend/kernel_calls.hpp"

namespace hsap::HSAP_ISA {
namespace {

/// Block sizes found best on a Zen 5 core with 1 MiB of level-2 cache; the score tile takes 96 KiB.
constexpr Index kQueryBlock = 96;
constexpr Index kKeyBlock = 256;

/// From the first to the last key row that any query row sees, the first rounded down to a panel: only these are packed.
struct KeySpan {
  Index begin = 0;
  Index end = 0;
  Index padded_rows() const { return round_up(end - begin, kPanel); }
};

inline KeySpan keys_seen(const RowInterval* visible, Index query_rows) {
  Index first = 0;
  while (first < query_rows && visible[first].begin == visible[first].end) ++first;
  if (first == query_rows) return {};
  return {round_down(visible[first].begin, kPanel), visible[query_rows - 1].end};
}

/// The same over both lists of a call.
inline KeySpan keys_seen(const RowInterval* visible, const RowInterval* sinks, Index query_rows) {
  const KeySpan main = keys_seen(visible, query_rows);
  const KeySpan first_keys = sinks != nullptr ? keys_seen(sinks, query_rows) : KeySpan{};
  if (first_keys.begin == first_keys.end) return main;
  if (main.begin == main.end) return first_keys;
  return {smaller(first_keys.begin, main.begin), larger(first_keys.end, main.end)};
}

/// End of the block of query rows that starts at `begin`. A block ends early where a row sees no key of the row before: at the
/// next document, so that short documents do not pay for each other's pairs.
inline Index block_end(const RowInterval* visible, Index begin, Index query_rows) {
  const Index limit = smaller(query_rows, begin + kQueryBlock);
  Index end = begin + 1;
  while (end < limit) {
    const RowInterval& before = visible[end - 1];
    if (before.begin < before.end && visible[end].begin >= before.end) break;
    ++end;
  }
  return end;
}

/// Query rows first .. last-1 against key rows begin .. end-1, which are whole panels counted from the span's begin. Of these a
/// row sees what lies in its interval of `visible`, the list of the call that the tile is of.
struct Tile {
  const RowInterval* visible;
  Index first, last;
  Index begin, end;
  Index rows() const { return last - first; }
  Index columns() const { return end - begin; }
};

/// Calls body(tile) for the tiles of one list and the query rows first .. last-1 that hold pairs.
template <class Body>
void for_each_tile(const RowInterval* visible, const KeySpan& span, Index first, Index last, Body&& body) {
  const auto down = [&](Index key) { return span.begin + round_down(key - span.begin, kPanel); };
  const auto up = [&](Index key) { return span.begin + round_up(key - span.begin, kPanel); };
  while (first < last && visible[first].begin == visible[first].end) ++first;
  if (first == last) return;
  const Index keys_end = visible[last - 1].end;
  for (Index begin = down(visible[first].begin); begin < keys_end; begin += kKeyBlock) {
    const Index end = smaller(begin + kKeyBlock, keys_end);
    Tile tile{visible, first, last, 0, 0};
    while (tile.first < last && visible[tile.first].end <= begin) ++tile.first;
    while (tile.last > tile.first && visible[tile.last - 1].begin >= end) --tile.last;
    if (tile.first == tile.last) continue;
    tile.begin = larger(begin, down(visible[tile.first].begin));
    tile.end = up(smaller(end, visible[tile.last - 1].end));
    if (tile.begin < tile.end) body(tile);
  }
}

/// The same for both lists of a call.
template <class Body>
void for_each_tile(const RowInterval* visible, const RowInterval* sinks, const KeySpan& span, Index first, Index last,
                   Body&& body) {
  if (sinks != nullptr) for_each_tile(sinks, span, first, last, body);
  for_each_tile(visible, span, first, last, body);
}

/// The columns of a tile that one query row sees, and the same rounded out to whole vectors.
struct SeenColumns {
  Index begin, end;
  Index vectors_begin, vectors_end;
  bool empty() const { return begin >= end; }
};

/// For row tile.first + i.
inline SeenColumns seen_columns(const Tile& tile, Index i) {
  const RowInterval& visible = tile.visible[tile.first + i];
  const Index begin = larger(visible.begin - tile.begin, 0);
  const Index end = smaller(visible.end - tile.begin, tile.columns());
  if (begin >= end) return {};
  return {begin, end, round_down(begin, kLanes), round_up(end, kLanes)};
}

/// Writes `value` over the columns of the outermost vectors that the row does not see.
inline void set_unseen(float* scores, const SeenColumns& seen, float value) {
  for (Index x = seen.vectors_begin; x < seen.begin; ++x) scores[x] = value;
  for (Index x = seen.end; x < seen.vectors_end; ++x) scores[x] = value;
}

/// Zeros beside the vectors that hold what the row sees.
inline void clear_beside(float* scores, const SeenColumns& seen, Index columns) {
  set_zero(scores, seen.vectors_begin);
  set_zero(scores + seen.vectors_end, columns - seen.vectors_end);
}

/// What is left of the pairs of a tile under decay: exp(-rate (query token - key token)).
struct TileDecay {
  float rate = 0;                       // per token, in units of log2
  const Index* query_tokens = nullptr;  // [query rows]
  Index origin = 0;                     // token of the tile's first key
  float key_offsets[kKeyBlock];         // [columns of the tile] tokens from the origin; 0 in the padding

  /// @pre the pairs do decay
  void enter(const PairDecay& decay, Index kv, const Tile& tile, Index key_rows) {
    constexpr float kLog2E = 1.44269504f;
    rate = kLog2E * decay.rates[kv];
    query_tokens = decay.query_tokens;
    origin = decay.key_tokens[tile.begin];
    for (Index x = 0; x < tile.columns(); ++x) {
      const Index key = tile.begin + x;
      key_offsets[x] = key < key_rows ? static_cast<float>(decay.key_tokens[key] - origin) : 0;
    }
  }

  /// The vectors that hold what the row sees times what is left of them. Columns that it does not see stay finite.
  void weaken(float* scores, Index query, const SeenColumns& seen) const {
    const Vector from_origin = splat(static_cast<float>(query_tokens[query] - origin));
    for (Index x = seen.vectors_begin; x < seen.vectors_end; x += kLanes) {
      const Vector distance = from_origin - load(key_offsets + x);
      store(scores + x, load(scores + x) * exp2(splat(-rate) * (distance < 0.0f ? Vector{} : distance)));
    }
  }
};

/// The query heads of the slice that read key/value head `kv` of the slice.
struct HeadSpan {
  Index begin, end;
};
inline HeadSpan heads_of_group(const HeadGroups& groups, Index query_heads, Index kv) {
  const Index begin = (groups.first_kv + kv) * groups.queries_per_kv - groups.first_query;
  return {larger(begin, 0), smaller(begin + groups.queries_per_kv, query_heads)};
}

}  // namespace
}  // namespace hsap::HSAP_ISA
