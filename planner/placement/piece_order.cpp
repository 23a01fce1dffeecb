#include "planner/placement/piece_order.hpp"

#include <algorithm>
#include <boost/sort/pdqsort/pdqsort.hpp>
#include <cstdint>
#include <limits>

namespace hsap {

namespace {

constexpr std::uint32_t kNoBin = std::numeric_limits<std::uint32_t>::max();

/// Puts the pieces of cut documents that a bin holds, those that touch as one, into their places among its whole ones.
void merge_cut(const std::vector<Piece>& cut, const RowCost& rows, std::vector<Piece>& pieces) {
  for (auto first = cut.begin(); first != cut.end();) {
    auto last = first + 1;
    while (last != cut.end() && last->document == first->document && last->begin == (last - 1)->end) ++last;
    const Piece piece = last - first == 1 ? *first : Piece(first->document, first->begin, (last - 1)->end, rows);
    pieces.insert(std::upper_bound(pieces.begin(), pieces.end(), piece, costlier), piece);
    first = last;
  }
}

}  // namespace

void sort_costliest_first(std::vector<Piece>& documents) {
  struct Key {  // lighter to move about than a piece
    double cost;
    std::uint32_t document, index;
  };
  std::vector<Key> order;
  order.reserve(documents.size());
  for (const Piece& piece : documents)
    order.push_back({piece.cost, static_cast<std::uint32_t>(piece.document), static_cast<std::uint32_t>(order.size())});
  // Nobody can foresee how costs compare, so this is worked out without a branch.
  boost::sort::pdqsort_branchless(order.begin(), order.end(), [](const Key& a, const Key& b) {
    return static_cast<bool>((a.cost > b.cost) | ((a.cost == b.cost) & (a.document < b.document)));
  });
  std::vector<Piece> sorted;
  sorted.reserve(documents.size());
  for (const Key& key : order) sorted.push_back(documents[key.index]);
  documents = std::move(sorted);
}

std::vector<std::vector<Piece>> costliest_first(const std::vector<Piece>& pieces, const RowCost& rows,
                                                const std::vector<Bin>& bins) {
  std::vector<std::vector<Piece>> sorted(bins.size());
  std::vector<std::vector<Piece>> cut(bins.size());
  std::vector<std::uint32_t> bin_of_document(rows.documents(), kNoBin);  // of whole ones
  for (std::size_t i = 0; i < bins.size(); ++i) {
    sorted[i].reserve(bins[i].pieces.size());
    for (const Piece& piece : bins[i].pieces)
      if (piece.is_whole(rows))
        bin_of_document[piece.document] = static_cast<std::uint32_t>(i);
      else
        cut[i].push_back(piece);
    std::sort(cut[i].begin(), cut[i].end(), earlier);
  }
  for (const Piece& piece : pieces)
    if (bin_of_document[piece.document] != kNoBin) sorted[bin_of_document[piece.document]].push_back(piece);
  for (std::size_t i = 0; i < bins.size(); ++i) merge_cut(cut[i], rows, sorted[i]);
  return sorted;
}

}  // namespace hsap
