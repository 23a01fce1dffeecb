#include "planner/strategies/token_set_table.hpp"

#include <algorithm>
#include <bit>

namespace hsap {

namespace {

std::size_t hash_of(Ranges ranges) {
  std::size_t hash = 1469598103934665603ULL;  // FNV-1a over the range ends
  for (const TokenRange& range : ranges)
    for (const Token token : {range.begin, range.end}) hash = (hash ^ static_cast<std::size_t>(token)) * 1099511628211ULL;
  return hash;
}

}  // namespace

TokenSetTable::TokenSetTable(std::size_t expected) {
  make_slots(2 * expected + 2);
  intern(Ranges{});
}

TokenSetId TokenSetTable::intern(Ranges ranges) {
  const std::size_t hash = hash_of(ranges);
  for (std::size_t slot = slot_of(hash); slots_[slot] != kFreeSlot; slot = (slot + 1) & (slots_.size() - 1)) {
    const TokenSetId set = slots_[slot];
    if (hash_of_set_[set] == hash && std::ranges::equal(sets_[set].ranges(), ranges)) return set;
  }
  const auto id = static_cast<TokenSetId>(sets_.size());
  sets_.push_back(TokenSet::of_normalised(ranges));
  hash_of_set_.push_back(hash);
  if (2 * hash_of_set_.size() > slots_.size())
    make_slots(2 * slots_.size());
  else
    put_in_slot(id);
  return id;
}

bool TokenSetTable::intersect(TokenSetId a, TokenSetId b) {
  constexpr std::size_t kLargeSet = 16;  // ranges, from which an answer is worth keeping
  if (a == b) return !sets_[a].empty();
  const auto [low, high] = std::minmax(a, b);
  if (std::min(sets_[low].ranges().size(), sets_[high].ranges().size()) < kLargeSet) return sets_[low].intersects(sets_[high]);
  const auto [known, is_new] = intersects_.try_emplace(std::uint64_t{high} << 32 | low, false);
  if (is_new) known->second = sets_[low].intersects(sets_[high]);
  return known->second;
}

std::size_t TokenSetTable::slot_of(std::size_t hash) const {
  return (hash ^ hash >> 32) * 0x9e3779b97f4a7c15ULL >> (64 - std::countr_zero(slots_.size()));  // Fibonacci hashing
}

void TokenSetTable::make_slots(std::size_t count) {
  slots_.assign(std::bit_ceil(count), kFreeSlot);
  for (TokenSetId set = 0; set < hash_of_set_.size(); ++set) put_in_slot(set);
}

void TokenSetTable::put_in_slot(TokenSetId set) {
  std::size_t slot = slot_of(hash_of_set_[set]);
  while (slots_[slot] != kFreeSlot) slot = (slot + 1) & (slots_.size() - 1);
  slots_[slot] = set;
}

}  // namespace hsap
