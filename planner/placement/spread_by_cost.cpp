#include <algorithm>
#include <queue>
#include <tuple>
#include <utility>

#include "planner/placement/spread.hpp"

namespace hsap {

namespace {

bool costlier(const Piece& a, const Piece& b) {
  return std::make_tuple(-a.cost, a.document, a.begin) < std::make_tuple(-b.cost, b.document, b.begin);
}

}  // namespace

void spread_by_cost(std::vector<Piece> pieces, const RowCost& rows, std::vector<Bin>& bins) {
  std::sort(pieces.begin(), pieces.end(), costlier);
  std::size_t next = 0;  // the first bin without a piece of a long document
  for (Piece& piece : pieces) {
    while (next < bins.size() && piece.cost > bins[next].target * (1 + 1e-9)) {
      static const bool uncap = getenv("UNCAP");
 const Token x = std::max(rows.tail_begin(piece.begin, piece.end, bins[next].target), uncap ? 0 : piece.end - bins[next].most);
      if (x <= piece.begin || x >= piece.end) break;
      bins[next++].add({piece.document, x, piece.end, rows.of(x, piece.end)});
      piece = {piece.document, piece.begin, x, rows.of(piece.begin, x)};
    }
  }
  std::sort(pieces.begin(), pieces.end(), costlier);
  std::priority_queue<std::pair<double, std::size_t>> rooms;
  for (std::size_t i = 0; i < bins.size(); ++i) rooms.push({bins[i].room(), bins.size() - i});
  for (const Piece& piece : pieces) {
    const std::size_t order = rooms.top().second;
    rooms.pop();
    Bin& bin = bins[bins.size() - order];
    bin.add(piece);
    rooms.push({bin.room(), order});
  }
}

}  // namespace hsap
