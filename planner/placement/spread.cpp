#include <algorithm>

#include "planner/placement/cost_cut_steps.hpp"
#include "planner/placement/most_room.hpp"

namespace hsap {

bool spread(const std::vector<Piece>& pieces, const RowCost& rows, double tolerance, std::vector<Bin>& bins) {
  for (Bin& bin : bins) bin.pieces.reserve(2 * pieces.size() / bins.size());
  std::size_t next = 0;  // the first bin without a tail
  std::vector<Piece> heads;
  auto whole = pieces.begin();  // the first that is not cut
  for (; whole != pieces.end() && next < bins.size() && whole->cost > bins[next].target * (1 + tolerance); ++whole) {
    Piece head = *whole;
    while (next < bins.size() && head.tokens() > 1 && head.cost > bins[next].target * (1 + tolerance)) {
      const Token fitting =
          std::max(rows.tail_begin(head.document, head.begin, head.end, bins[next].target), head.end - bins[next].most);
      const Token cut = std::min(fitting, head.end - 1);  // a bin may be too small for a single row
      if (cut <= head.begin) break;
      bins[next++].add({head.document, cut, head.end, rows});
      head = Piece(head.document, head.begin, cut, rows);
    }
    heads.push_back(head);
  }
  std::sort(heads.begin(), heads.end(), costlier);

  MostRoom most_room(bins);
  for (auto head = heads.begin(); head != heads.end() || whole != pieces.end();) {
    const bool is_head = whole == pieces.end() || (head != heads.end() && costlier(*head, *whole));
    const Piece& piece = is_head ? *head++ : *whole++;
    const std::size_t taker = most_room.bin();
    Bin& bin = bins[taker];
    bin.add(piece);
    if (bin.token_room() < 0) return false;
    most_room.set(taker, bin.room());
  }
  return true;
}

}  // namespace hsap
