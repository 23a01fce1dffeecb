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
  const std::size_t slot = find(ranges, hash);
  return slots_[slot] != kFreeSlot ? slots_[slot] : add(TokenSet::of_normalised(ranges), hash, slot);
}

TokenSetId TokenSetTable::intern(TokenSet set) {
  const std::size_t hash = hash_of(set.ranges());
  const std::size_t slot = find(set.ranges(), hash);
  return slots_[slot] != kFreeSlot ? slots_[slot] : add(std::move(set), hash, slot);
}

bool TokenSetTable::intersect(TokenSetId a, TokenSetId b) {
  constexpr std::size_t kLargeSet = 16;  // ranges, from which an answer is worth keeping
  const auto [low, high] = std::minmax(a, b);
  if (std::min(sets_[low].ranges().size(), sets_[high].ranges().size()) < kLargeSet) return sets_[low].intersects(sets_[high]);
  const auto [known, is_new] = intersects_.try_emplace(std::uint64_t{high} << 32 | low, false);
  if (is_new) known->second = sets_[low].intersects(sets_[high]);
  return known->second;
}

std::size_t TokenSetTable::find(Ranges ranges, std::size_t hash) const {
  std::size_t slot = first_slot(hash);
  for (; slots_[slot] != kFreeSlot; slot = next(slot)) {
    const TokenSetId set = slots_[slot];
    if (hash_of_set_[set] == hash && std::ranges::equal(sets_[set].ranges(), ranges)) break;
  }
  return slot;
}

TokenSetId TokenSetTable::add(TokenSet set, std::size_t hash, std::size_t slot) {
  const auto id = static_cast<TokenSetId>(sets_.size());
  sets_.push_back(std::move(set));
  hash_of_set_.push_back(hash);
  slots_[slot] = id;
  if (2 * sets_.size() > slots_.size()) make_slots(2 * slots_.size());
  return id;
}

std::size_t TokenSetTable::first_slot(std::size_t hash) const {
  return (hash ^ hash >> 32) * 0x9e3779b97f4a7c15ULL >> (64 - std::countr_zero(slots_.size()));  // Fibonacci hashing
}

void TokenSetTable::make_slots(std::size_t count) {
  slots_.assign(std::bit_ceil(count), kFreeSlot);
  for (TokenSetId set = 0; set < sets_.size(); ++set) {
    std::size_t slot = first_slot(hash_of_set_[set]);
    while (slots_[slot] != kFreeSlot) slot = next(slot);
    slots_[slot] = set;
  }
}

}  // namespace hsap
