// The token sets of a schedule that is being built, each different one once: their ids say whether they are equal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "planner/ir/token_set.hpp"

namespace hsap {

class TokenSetTable {
 public:
  static constexpr TokenSetId kEmpty = 0;  ///< the id of the empty set

  /// `expected`: about how many sets there will be.
  explicit TokenSetTable(std::size_t expected);

  /// Id of an equal set, stored once. @pre the ranges are normalised
  TokenSetId intern(Ranges ranges);
  TokenSetId intern(TokenSet set);
  /// Valid until the next intern().
  const TokenSet& operator[](TokenSetId id) const { return sets_[id]; }
  /// Whether some token is in both. Answers about large sets are kept.
  bool intersect(TokenSetId a, TokenSetId b);

  /// [id]; the table is spent.
  std::vector<TokenSet> take() { return std::move(sets_); }

 private:
  // Sets by their hash: open addressing in a power of two of slots, for a look is taken at every message's rows.
  static constexpr auto kFreeSlot = static_cast<TokenSetId>(-1);
  std::size_t first_slot(std::size_t hash) const;
  std::size_t next(std::size_t slot) const { return (slot + 1) & (slots_.size() - 1); }
  /// The slot of an equal set, or the free one where it belongs.
  std::size_t find(Ranges ranges, std::size_t hash) const;
  TokenSetId add(TokenSet set, std::size_t hash, std::size_t slot);
  void make_slots(std::size_t count);

  std::vector<TokenSet> sets_;
  std::vector<std::size_t> hash_of_set_;
  std::vector<TokenSetId> slots_;
  std::unordered_map<std::uint64_t, bool> intersects_;  // of pairs of large sets that were asked about
};

}  // namespace hsap
