#include <algorithm>
#include <functional>
#include <queue>
#include <string>
#include <utility>

#include "planner/ir/errors.hpp"
#include "planner/placement/placement.hpp"

namespace hsap {

namespace {

struct Chunk {
  TokenRange rows;
  std::int64_t pairs;
};

std::vector<Chunk> costliest_first(const DocumentMask& mask, Token size) {
  const TokenSet all{{0, mask.tokens()}};
  std::vector<Chunk> chunks;
  for (Token begin = 0; begin < mask.tokens(); begin += size) {
    const TokenRange rows{begin, std::min(begin + size, mask.tokens())};
    chunks.push_back({rows, mask.pairs(TokenSet{rows}, all)});
  }
  std::stable_sort(chunks.begin(), chunks.end(), [](const Chunk& a, const Chunk& b) { return a.pairs > b.pairs; });
  return chunks;
}

}  // namespace

Token chunk_for(const DocumentMask& mask, int groups, Token least) {
  constexpr Token kLargest = 2048, kChunks = 8;
  Token chunk = kLargest;
  while (chunk > 1 && chunk * kChunks * groups > mask.tokens()) chunk /= 2;
  return chunk < least && least * groups <= mask.tokens() ? least : chunk;
}

Placement place_chunks_by_pairs(const DocumentMask& mask, int groups, Token chunk) {
  const auto refuse = [](const std::string& what, Token found) {
    throw InvalidInput("placement of chunks: " + what + " is " + std::to_string(found) + ", expected at least 1");
  };
  if (groups < 1) refuse("the number of groups", groups);
  if (chunk < 1) refuse("the size of a chunk", chunk);

  const std::vector<Chunk> chunks = costliest_first(mask, chunk);
  const std::size_t fair = chunks.size() / static_cast<std::size_t>(groups);
  std::size_t larger = chunks.size() % static_cast<std::size_t>(groups);  // groups that may yet get one more
  using Entry = std::pair<std::int64_t, std::size_t>;                     // pairs, group
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> lightest;
  for (std::size_t group = 0; group < static_cast<std::size_t>(groups); ++group) lightest.push({0, group});
  std::vector<std::vector<TokenRange>> held(static_cast<std::size_t>(groups));
  for (const Chunk& next : chunks) {
    while (held[lightest.top().second].size() == fair && larger == 0) lightest.pop();
    const auto [pairs, group] = lightest.top();
    lightest.pop();
    if (held[group].size() == fair) --larger;
    held[group].push_back(next.rows);
    if (held[group].size() <= fair) lightest.push({pairs + next.pairs, group});
  }
  Placement placement;
  placement.reserve(held.size());
  for (std::vector<TokenRange>& ranges : held) placement.emplace_back(std::move(ranges));
  return placement;
}

}  // namespace hsap
