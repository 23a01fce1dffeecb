#include "planner/placement/piece_order.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

namespace hsap {

namespace {

constexpr std::uint32_t kNoBin = std::numeric_limits<std::uint32_t>::max();

/// Puts pieces of cut documents, which come as in the batch, into their places among whole ones, those that touch as one.
void merge_cut(std::span<const Piece> cut, const RowCost& rows, std::vector<Piece>& pieces) {
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
  constexpr int kBits = 9;  // of a digit: two of them for documents of up to 2^18 tokens
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
  std::vector<Piece> cut;
  std::vector<std::size_t> cut_below(bins.size() + 1);                   // pieces of `cut` in bins 0 .. i-1
  std::vector<std::uint32_t> bin_of_document(rows.documents(), kNoBin);  // of whole ones
  for (std::size_t i = 0; i < bins.size(); ++i) {
    sorted[i].reserve(bins[i].pieces.size());
    for (const Piece& piece : bins[i].pieces)
      if (piece.is_whole(rows))
        bin_of_document[piece.document] = static_cast<std::uint32_t>(i);
      else
        cut.push_back(piece);
    std::sort(cut.begin() + static_cast<std::ptrdiff_t>(cut_below[i]), cut.end(), earlier);
    cut_below[i + 1] = cut.size();
  }
  for (const Piece& piece : pieces)
    if (const std::uint32_t bin = bin_of_document[piece.document]; bin != kNoBin) sorted[bin].push_back(piece);
  for (std::size_t i = 0; i < bins.size(); ++i)
    merge_cut({cut.begin() + static_cast<std::ptrdiff_t>(cut_below[i]), cut_below[i + 1] - cut_below[i]}, rows, sorted[i]);
  return sorted;
}

}  // namespace hsap
