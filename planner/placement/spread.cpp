#include <algorithm>

#include "planner/placement/cost_cut_steps.hpp"

namespace hsap {

namespace {

/// The bin with most room; of equal ones the first. A heap whose top gives way in place, for which std::priority_queue needs
/// two steps.
class Rooms {
 public:
  explicit Rooms(const std::vector<Bin>& bins) {
    heap_.reserve(bins.size());
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

  Rooms rooms(bins);
  for (auto head = heads.begin(); head != heads.end() || whole != pieces.end();) {
    const bool is_head = whole == pieces.end() || (head != heads.end() && costlier(*head, *whole));
    const Piece& piece = is_head ? *head++ : *whole++;
    Bin& bin = bins[rooms.largest()];
    bin.add(piece);
    if (bin.token_room() < 0) return false;
    rooms.shrink(bin.room());
  }
  return true;
}

}  // namespace hsap
