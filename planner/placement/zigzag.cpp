#include <algorithm>
#include <string>
#include <vector>

#include "planner/ir/errors.hpp"
#include "planner/placement/placement.hpp"

namespace hsap {

Placement place_zigzag(const DocumentMask& mask, int groups) {
  std::vector<TokenRange> documents;
  for (std::size_t document = 0; document < mask.documents(); ++document) documents.push_back(mask.document(document));
  return place_zigzag(documents, groups);
}

Placement place_zigzag(const std::vector<TokenRange>& documents, int groups) {
  if (groups < 1)
    throw InvalidInput("zigzag placement: the number of groups is " + std::to_string(groups) + ", expected at least 1");
  const Token chunks = 2 * Token{groups};
  std::vector<std::vector<TokenRange>> held(static_cast<std::size_t>(groups));
  Token next = 0;  // the chunk that gets the next remainder token
  for (const TokenRange& document : documents) {
    const Token base = document.size() / chunks;
    const Token remainder = document.size() % chunks;
    Token begin = document.begin;
    // Chunks first .. last-1 of the document, `base` or base + 1 tokens each.
    const auto deal = [&](Token first, Token last, Token size) {
      for (Token chunk = first; size > 0 && chunk < last; ++chunk, begin += size)
        held[static_cast<std::size_t>(std::min(chunk, chunks - 1 - chunk))].push_back({begin, begin + size});
    };
    // The longer chunks are next .. next + remainder - 1, and start again at 0 behind the last.
    const Token wrapped = std::max<Token>(0, next + remainder - chunks);
    deal(0, wrapped, base + 1);
    deal(wrapped, next, base);
    deal(next, next + remainder - wrapped, base + 1);
    deal(next + remainder - wrapped, chunks, base);
    next = (next + remainder) % chunks;
  }
  Placement placement;
  placement.reserve(held.size());
  for (std::vector<TokenRange>& ranges : held) placement.emplace_back(std::move(ranges));
  return placement;
}

}  // namespace hsap
