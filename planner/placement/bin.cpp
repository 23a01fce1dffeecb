#include "planner/placement/bin.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace hsap {

namespace {

struct Cheaper {
  bool operator()(const Piece& a, const Piece& b) const {
    if (a.cost_per_token != b.cost_per_token) return a.cost_per_token < b.cost_per_token;
    if (a.begin + a.end != b.begin + b.end) return a.begin + a.end < b.begin + b.end;
    return a.document != b.document ? a.document < b.document : a.begin < b.begin;
  }
};
constexpr Cheaper cheaper;

}  // namespace

TokenSet Bin::token_set(const DocumentMask& mask, std::vector<TokenRange>& ranges) const {
  ranges.clear();
  for (const Piece& piece : pieces) {
    const Token begin = mask.document(piece.document).begin;
    ranges.push_back({begin + piece.begin, begin + piece.end});
  }
  normalise(ranges);
  return TokenSet::of_normalised(ranges);
}

void Bin::sort() {
  if (is_sorted) return;
  if (!std::is_sorted(pieces.begin(), pieces.end(), cheaper)) std::sort(pieces.begin(), pieces.end(), cheaper);
  is_sorted = true;
}

void Bin::insert(const Piece& piece) {
  pieces.insert(std::upper_bound(pieces.begin(), pieces.end(), piece, cheaper), piece);
  cost += piece.cost;
  tokens += piece.tokens();
}

Piece Bin::take(std::size_t index) {
  const Piece piece = pieces[index];
  pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(index));
  cost -= piece.cost;
  tokens -= piece.tokens();
  return piece;
}

void Bin::resize(std::size_t index, Token begin, Token end, const RowCost& rows) {
  Piece& piece = pieces[index];
  const Piece resized(piece.document, begin, end, rows);
  cost += resized.cost - piece.cost;
  tokens += resized.tokens() - piece.tokens();
  piece = resized;
  is_sorted = false;
}

void move_cheapest(Bin& from, Bin& to, Token least, Token most, const RowCost& rows) {
  std::size_t leaving = 0;  // pieces that leave, the one that is cut included
  std::optional<Piece> kept;
  for (Token moved = 0; moved < least; ++leaving) {
    const Piece& piece = from.pieces[leaving];
    if (moved + piece.tokens() <= most) {
      to.insert(piece);
      moved += piece.tokens();
    } else {
      const Token cut = piece.begin + least - moved;
      to.insert({piece.document, piece.begin, cut, rows});
      kept = Piece(piece.document, cut, piece.end, rows);
      moved = least;
    }
    from.cost -= piece.cost;
    from.tokens -= piece.tokens();
  }
  from.pieces.erase(from.pieces.begin(), from.pieces.begin() + static_cast<std::ptrdiff_t>(leaving));
  if (kept) from.insert(*kept);
}

}  // namespace hsap
