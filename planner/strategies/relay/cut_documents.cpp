#include "planner/strategies/relay/cut_documents.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace hsap {

namespace {

/// DocumentMask::document_of() for very many tokens, with a table of blocks of tokens: about as many as there are documents.
class DocumentFinder {
 public:
  explicit DocumentFinder(const DocumentMask& mask) : offsets_(mask.offsets()) {
    const auto documents = static_cast<Token>(mask.documents());
    bits_ = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(mask.tokens() / documents)));
    std::size_t document = 0;
    for (Token block = 0; block < mask.tokens(); block += Token{1} << bits_) {
      while (offsets_[document + 1] <= block) ++document;
      first_.push_back(document);
    }
    first_.push_back(mask.documents() - 1);
  }

  /// O(log documents of a block).
  std::size_t document_of(Token token) const {
    const auto block = static_cast<std::size_t>(token >> bits_);
    const auto begins = [&](std::size_t document) { return offsets_.begin() + static_cast<std::ptrdiff_t>(document); };
    const auto next = std::upper_bound(begins(first_[block] + 1), begins(first_[block + 1] + 1), token);
    return static_cast<std::size_t>(next - offsets_.begin()) - 1;
  }

 private:
  const std::vector<Token>& offsets_;
  int bits_ = 0;                    // of the tokens of a block
  std::vector<std::size_t> first_;  // [block] document of its first token, and the last document
};

}  // namespace

std::vector<HeldPiece> cut_documents(const DocumentMask& mask, const std::vector<const TokenSet*>& groups) {
  std::vector<HeldPiece> pieces;
  if (mask.documents() == 0) return pieces;
  const DocumentFinder finder(mask);
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (const TokenRange& range : groups[g]->ranges()) {
      std::size_t document = finder.document_of(range.begin);
      for (Token begin = range.begin; begin < range.end; ++document) {
        const TokenRange whole = mask.document(document);
        const Token end = std::min(range.end, whole.end);
        if (begin > whole.begin || end < whole.end) pieces.push_back({document, {begin, end}, static_cast<int>(g)});
        begin = end;
      }
    }
  std::sort(pieces.begin(), pieces.end(), [](const HeldPiece& a, const HeldPiece& b) { return a.rows.begin < b.rows.begin; });
  return pieces;
}

}  // namespace hsap
