#include <algorithm>
#include <queue>
#include <utility>

#include "planner/placement/cost_cut_steps.hpp"

namespace hsap {

namespace {

bool costlier(const Piece& a, const Piece& b) {
  if (a.cost != b.cost) return a.cost > b.cost;
  return a.document != b.document ? a.document < b.document : a.begin < b.begin;
}

}  // namespace

void spread(std::vector<Piece> pieces, const RowCost& rows, double tolerance, std::vector<Bin>& bins) {
  std::sort(pieces.begin(), pieces.end(), costlier);
  std::size_t next = 0;  // the first bin without a tail
  std::size_t long_ones = 0;
  for (; long_ones < pieces.size() && next < bins.size(); ++long_ones) {
    Piece& piece = pieces[long_ones];
    if (piece.cost <= bins[next].target * (1 + tolerance)) break;
    while (next < bins.size() && piece.tokens() > 1 && piece.cost > bins[next].target * (1 + tolerance)) {
      const Token fitting =
          std::max(rows.tail_begin(piece.document, piece.begin, piece.end, bins[next].target), piece.end - bins[next].most);
      const Token cut = std::min(fitting, piece.end - 1);  // a bin may be too small for a single row
      if (cut <= piece.begin) break;
      bins[next++].add({piece.document, cut, piece.end, rows});
      piece = Piece(piece.document, piece.begin, cut, rows);
    }
  }
  const auto heads_end = pieces.begin() + static_cast<std::ptrdiff_t>(long_ones);
  std::sort(pieces.begin(), heads_end, costlier);
  std::inplace_merge(pieces.begin(), heads_end, pieces.end(), costlier);

  std::priority_queue<std::pair<double, std::size_t>> rooms;  // of equal rooms the first bin: indices count down
  for (std::size_t i = 0; i < bins.size(); ++i) rooms.push({bins[i].room(), bins.size() - 1 - i});
  for (const Piece& piece : pieces) {
    const std::size_t index = rooms.top().second;
    rooms.pop();
    Bin& bin = bins[bins.size() - 1 - index];
    bin.add(piece);
    rooms.push({bin.room(), index});
  }
}

}  // namespace hsap
