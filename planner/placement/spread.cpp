#include <algorithm>
#include <boost/sort/pdqsort/pdqsort.hpp>
#include <cstdint>
#include <utility>

#include "planner/placement/cost_cut_steps.hpp"

namespace hsap {

namespace {

struct Costlier {
  bool operator()(const Piece& a, const Piece& b) const {
    if (a.cost != b.cost) return a.cost > b.cost;
    return a.document != b.document ? a.document < b.document : a.begin < b.begin;
  }
};
constexpr Costlier costlier;

/// Pieces in the order of costlier.
std::vector<Piece> sorted(const std::vector<Piece>& pieces) {
  if (std::is_sorted(pieces.begin(), pieces.end(), costlier)) return pieces;
  struct Key {  // lighter to move about than a piece
    double cost;
    std::uint32_t document, index;
  };
  std::vector<Key> order;
  order.reserve(pieces.size());
  for (const Piece& piece : pieces)
    order.push_back({piece.cost, static_cast<std::uint32_t>(piece.document), static_cast<std::uint32_t>(order.size())});
  // Nobody can foresee how costs compare, so the usual case is worked out without a branch.
  boost::sort::pdqsort_branchless(order.begin(), order.end(), [&](const Key& a, const Key& b) {
    if (a.document == b.document) [[unlikely]]
      return costlier(pieces[a.index], pieces[b.index]);
    return static_cast<bool>((a.cost > b.cost) | ((a.cost == b.cost) & (a.document < b.document)));
  });
  std::vector<Piece> result;
  result.reserve(pieces.size());
  for (const Key& key : order) result.push_back(pieces[key.index]);
  return result;
}

/// The bin with most room; of equal ones the first. A heap whose top gives way in place, for which std::priority_queue needs
/// two steps.
class Rooms {
 public:
  explicit Rooms(const std::vector<Bin>& bins) {
    for (std::size_t i = 0; i < bins.size(); ++i) heap_.push_back({bins[i].room(), i});
    std::make_heap(heap_.begin(), heap_.end(), less);
  }
  std::size_t largest() const { return heap_.front().bin; }
  /// The largest has only `room` left.
  void shrink(double room) {
    const Room moved{room, heap_.front().bin};
    std::size_t place = 0;
    while (true) {
      std::size_t child = 2 * place + 1;
      if (child >= heap_.size()) break;
      if (child + 1 < heap_.size() && less(heap_[child], heap_[child + 1])) ++child;
      if (!less(moved, heap_[child])) break;
      heap_[place] = heap_[child];
      place = child;
    }
    heap_[place] = moved;
  }

 private:
  struct Room {
    double size;
    std::size_t bin;
  };
  static bool less(const Room& a, const Room& b) { return a.size != b.size ? a.size < b.size : a.bin > b.bin; }
  std::vector<Room> heap_;
};

}  // namespace

bool spread(const std::vector<Piece>& unsorted, const RowCost& rows, double tolerance, std::vector<Bin>& bins) {
  std::vector<Piece> pieces = sorted(unsorted);
  for (Bin& bin : bins) bin.pieces.reserve(2 * pieces.size() / bins.size());
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

  Rooms rooms(bins);
  for (const Piece& piece : pieces) {
    Bin& bin = bins[rooms.largest()];
    bin.add(piece);
    if (bin.token_room() < 0) return false;
    rooms.shrink(bin.room());
  }
  return true;
}

}  // namespace hsap
