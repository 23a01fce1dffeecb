// A flat hash table from a pair of ids to an id. verify() asks the same questions about the same token sets on every rank, so
// most of its time would go into a node-based map; this one is linear probing over one array.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace hsap::proof {

class PairMemo {
 public:
  std::optional<std::uint32_t> find(std::uint32_t a, std::uint32_t b) const {
    if (slots_.empty()) return std::nullopt;
    const std::uint64_t key = key_of(a, b);
    for (std::size_t i = start(key);; i = (i + 1) & (slots_.size() - 1)) {
      if (slots_[i].key == key) return slots_[i].result;
      if (slots_[i].key == kFree) return std::nullopt;
    }
  }

  /// @pre the pair is not in the table yet.
  void insert(std::uint32_t a, std::uint32_t b, std::uint32_t result) {
    if (2 * (used_ + 1) > slots_.size()) grow();
    place({key_of(a, b), result});
    ++used_;
  }

 private:
  struct Slot {
    std::uint64_t key;
    std::uint32_t result;
  };
  static constexpr std::uint64_t kFree = ~std::uint64_t{0};  // would be the pair of two largest ids: never reached

  static std::uint64_t key_of(std::uint32_t a, std::uint32_t b) { return std::uint64_t{a} << 32 | b; }
  std::size_t start(std::uint64_t key) const {
    return static_cast<std::size_t>(key * 0x9E3779B97F4A7C15u >> 20) & (slots_.size() - 1);  // Fibonacci hashing
  }
  void place(const Slot& slot) {
    std::size_t i = start(slot.key);
    while (slots_[i].key != kFree) i = (i + 1) & (slots_.size() - 1);
    slots_[i] = slot;
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 64 : 2 * slots_.size(), Slot{kFree, 0});
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.key != kFree) place(slot);
  }

  std::vector<Slot> slots_;  // size is a power of two
  std::size_t used_ = 0;
};

}  // namespace hsap::proof
