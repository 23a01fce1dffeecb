#include "planner/placement/entering_keys.hpp"

#include <vector>

namespace hsap {

Token entering_keys(const Bin& bin, const DocumentMask& mask) {
  std::vector<TokenRange> seen;
  seen.reserve(16);  // few documents are cut
  Token held = 0;
  for (const Piece& piece : bin.pieces)
    if (const TokenRange document = mask.document(piece.document); piece.tokens() < document.size()) {
      const VisibleKeys visible = mask.keys_seen_by(piece.document, {document.begin + piece.begin, document.begin + piece.end});
      if (visible.sinks.size() > 0) seen.push_back(visible.sinks);
      seen.push_back(visible.main);
      held += piece.tokens();
    }
  normalise(seen);
  Token entering = -held;
  for (const TokenRange& range : seen) entering += range.size();
  return entering;
}

}  // namespace hsap
