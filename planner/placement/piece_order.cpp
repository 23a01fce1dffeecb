#include "planner/placement/piece_order.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>

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

// Longer documents cost more under every rule, so their lengths are sorted, from the last digit to the first: each of these
// steps keeps the order of equal ones.
void sort_costliest_first(std::vector<Piece>& documents) {
  constexpr int kBits = 8;  // of a digit
  constexpr std::uint64_t kDigits = std::uint64_t{1} << kBits;
  std::uint64_t longest = 0;
  for (const Piece& piece : documents) longest = std::max(longest, static_cast<std::uint64_t>(piece.tokens()));
  std::vector<std::uint32_t> order(documents.size()), next(documents.size());
  std::iota(order.begin(), order.end(), 0U);
  for (int shift = 0; longest >> shift > 0; shift += kBits) {
    const auto digit_of = [&](std::uint32_t document) {  // large ones first
      return kDigits - 1 - (static_cast<std::uint64_t>(documents[document].tokens()) >> shift) % kDigits;
    };
    std::array<std::uint32_t, kDigits> places{};
    for (const std::uint32_t document : order) ++places[digit_of(document)];
    std::exclusive_scan(places.begin(), places.end(), places.begin(), 0U);
    for (const std::uint32_t document : order) next[places[digit_of(document)]++] = document;
    order.swap(next);
  }
  std::vector<Piece> sorted;
  sorted.reserve(documents.size());
  for (const std::uint32_t document : order) sorted.push_back(documents[document]);
  // costs beyond 2^53 pairs are rounded, and may be equal
  if (!std::is_sorted(sorted.begin(), sorted.end(), costlier)) std::sort(sorted.begin(), sorted.end(), costlier);
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
