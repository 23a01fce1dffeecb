#include "planner/cost/attention_tiles.hpp"

#include <algorithm>
#include <vector>

namespace hsap {

namespace {

/// The rows of one document as a kernel gets them: pieces of the token axis, stored back to back.
class CompactRows {
 public:
  void clear() {
    pieces_.clear();
    size_ = 0;
  }
  void append(TokenRange piece) {
    pieces_.push_back({piece, size_});
    size_ += piece.size();
  }
  Token size() const { return size_; }
  /// Position on the token axis of a row. `hint` is the piece of an earlier (lower) row and moves along.
  Token token_at(Token row, std::size_t& hint) const {
    while (row - pieces_[hint].rows_before >= pieces_[hint].tokens.size()) ++hint;
    return pieces_[hint].tokens.begin + row - pieces_[hint].rows_before;
  }

 private:
  struct Piece {
    TokenRange tokens;
    Token rows_before;
  };
  std::vector<Piece> pieces_;
  Token size_ = 0;
};

/// Adds the blocks of one document.
void add_document(const DocumentMask& mask, TokenRange document, const CompactRows& rows, const TokenSet& keys, int heads,
                  TileShape tile, TileCount& count) {
  const Token keys_before = keys.row_of(document.begin);
  if (keys.row_of(document.end) == keys_before) return;
  const Token packed_rows = rows.size() * heads;
  const auto tiles_of = [&](Token first_key, Token end_key) -> std::int64_t {  // counted from the document's begin
    const Token begin = first_key > 0 ? keys.row_of(document.begin + first_key) - keys_before : 0;
    const Token end = end_key > 0 ? keys.row_of(document.begin + end_key) - keys_before : 0;
    return begin == end ? 0 : (end + tile.keys - 1) / tile.keys - begin / tile.keys;
  };
  std::size_t first_hint = 0;
  std::size_t last_hint = 0;
  for (Token row = 0; row < packed_rows; row += tile.rows) {
    const Token first = rows.token_at(row / heads, first_hint) - document.begin;
    const Token last = rows.token_at((std::min(row + tile.rows, packed_rows) - 1) / heads, last_hint) - document.begin;
    const std::int64_t steps = tiles_of(mask.rule().first_key(first), mask.rule().end_key(last, document.size())) +
                               tiles_of(0, mask.rule().sink_end(last));
    if (steps == 0) continue;
    ++count.blocks;
    count.tiles += steps;
    count.longest_block = std::max(count.longest_block, steps);
  }
}

}  // namespace

TileCount count_tiles(const DocumentMask& mask, const TokenSet& queries, const TokenSet& keys, int query_heads_per_kv_head,
                      TileShape tile) {
  TileCount count;
  if (queries.empty() || keys.empty()) return count;
  const Token reach_begin = mask.document(mask.document_of(keys.ranges().front().begin)).begin;
  const Token reach_end = mask.document(mask.document_of(keys.ranges().back().end - 1)).end;
  CompactRows rows;
  std::size_t open = mask.documents();  // the document whose rows are being collected
  const auto close = [&] {
    if (rows.size() > 0) add_document(mask, mask.document(open), rows, keys, query_heads_per_kv_head, tile, count);
    rows.clear();
  };
  for (const TokenRange& range : queries.ranges()) {
    const TokenRange near{std::max(range.begin, reach_begin), range.end};  // rows of documents without keys see none
    if (near.begin >= reach_end) break;
    if (near.size() <= 0) continue;
    for (std::size_t index = mask.document_of(near.begin); index < mask.documents(); ++index) {
      const TokenRange document = mask.document(index);
      if (document.begin >= std::min(near.end, reach_end)) break;
      if (index != open) close();
      open = index;
      rows.append({std::max(near.begin, document.begin), std::min(near.end, document.end)});
    }
  }
  close();
  return count;
}

}  // namespace hsap
