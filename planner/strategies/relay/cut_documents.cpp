#include "planner/strategies/relay/cut_documents.hpp"

#include <algorithm>

namespace hsap {

std::vector<HeldPiece> cut_documents(const DocumentMask& mask, const std::vector<const TokenSet*>& groups) {
  std::vector<HeldPiece> pieces;
  const std::vector<Token>& offsets = mask.offsets();
  for (std::size_t g = 0; g < groups.size(); ++g) {
    auto next = offsets.begin();  // the ranges of a group ascend
    for (const TokenRange& range : groups[g]->ranges()) {
      next = std::upper_bound(next, offsets.end(), range.begin);
      for (Token begin = range.begin; begin < range.end; ++next) {
        const Token end = std::min(range.end, *next);
        const auto document = static_cast<std::size_t>(next - offsets.begin()) - 1;
        if (begin > offsets[document] || end < *next) pieces.push_back({document, {begin, end}, static_cast<int>(g)});
        begin = end;
      }
      --next;
    }
  }
  std::sort(pieces.begin(), pieces.end(), [](const HeldPiece& a, const HeldPiece& b) { return a.rows.begin < b.rows.begin; });
  return pieces;
}

}  // namespace hsap
