#include "planner/placement/placement.hpp"

namespace hsap {

Placement place_zigzag(const DocumentMask& mask, int groups) {
  const Token chunks = 2 * static_cast<Token>(groups);
  std::vector<std::vector<TokenRange>> held(static_cast<std::size_t>(groups));
  Token next = 0;  // chunk that gets the next remainder token
  for (std::size_t d = 0; d < mask.documents(); ++d) {
    const TokenRange document = mask.document(d);
    const Token base = document.size() / chunks;
    const Token remainder = document.size() % chunks;
    Token begin = document.begin;
    for (Token chunk = 0; chunk < chunks; ++chunk) {
      const Token length = base + ((chunk - next + chunks) % chunks < remainder ? 1 : 0);
      if (length > 0) held[static_cast<std::size_t>(chunk < groups ? chunk : chunks - 1 - chunk)].push_back({begin, begin + length});
      begin += length;
    }
    next = (next + remainder) % chunks;
  }
  Placement placement;
  for (std::vector<TokenRange>& ranges : held) placement.emplace_back(std::move(ranges));
  return placement;
}

}  // namespace hsap
