// Token sets by id, with each intersection and difference computed once for the whole schedule. Equal sets have equal ids, so
// comparing two sets is comparing two numbers.
#pragma once

#include <deque>
#include <unordered_map>
#include <vector>

#include "planner/ir/token_set.hpp"
#include "planner/ir/verify/pair_memo.hpp"

namespace hsap::proof {

class TokenAlgebra {
 public:
  /// Ids of the sets given stay what they are; sets derived from them get the ids behind. `given` must outlive the algebra.
  /// Throws InvalidInput when set 0 is not empty or a set is listed twice.
  explicit TokenAlgebra(const std::vector<TokenSet>& given);

  const TokenSet& operator[](TokenSetId id) const { return id < given_.size() ? given_[id] : derived_[id - given_.size()]; }
  Token size(TokenSetId id) const { return (*this)[id].size(); }
  /// Number of sets, derived ones included.
  std::size_t size() const { return given_.size() + derived_.size(); }

  TokenSetId intersection(TokenSetId a, TokenSetId b);
  TokenSetId difference(TokenSetId a, TokenSetId b);  ///< members of a not in b
  bool contains(TokenSetId a, TokenSetId b) { return intersection(a, b) == b; }

  static constexpr TokenSetId kEmpty = 0;

 private:
  TokenSetId id_of(TokenSet set);

  const std::vector<TokenSet>& given_;
  std::deque<TokenSet> derived_;
  std::unordered_multimap<std::size_t, TokenSetId> by_hash_;
  PairMemo intersections_;
  PairMemo differences_;
};

}  // namespace hsap::proof
