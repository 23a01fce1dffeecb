// What a piece of a computed buffer stands for, symbolically: a sum of terms. A term of o, lse or d_q says over which keys
// attention ran for those rows; a term of d_k, d_v or d_state says over which queries and which of their heads.
// Values are immutable and shared: adding two costs one node, and equal sums (made in the same way) have equal ids.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/ir/schedule.hpp"
#include "planner/ir/verify/pair_memo.hpp"

namespace hsap::proof {

using ValueId = std::uint32_t;
/// The value of every written piece of q, k, v or d_o: the tensor itself. Nothing but a transfer or copy can write those roles.
inline constexpr ValueId kInput = 0;

/// Gradients over no queries are zero, and what a Zero op writes. Such a term carries this flag and its rank in place of
/// tokens, so that the zeros of two ranks are two terms, and one that enters twice is noticed.
inline constexpr TokenSetId kZeroOfRank = TokenSetId{1} << 31;

/// Attention against `tokens`; `query_heads` matters where one kv head sums over several query heads.
struct Term {
  TokenSetId tokens = 0;
  HeadRange query_heads;
};
/// Both ends of a range of heads in one number. @pre heads are at most 65,535.
inline std::uint32_t code_of(const HeadRange& heads) {
  return static_cast<std::uint32_t>(heads.begin) << 16 | static_cast<std::uint32_t>(heads.end);
}

class Values {
 public:
  /// More terms than this in one sum can only come from adding a value to itself over and over.
  static constexpr std::uint32_t kMaxTerms = 1u << 20;

  ValueId term(const Term& term);
  ValueId sum(ValueId a, ValueId b);
  std::uint32_t terms(ValueId value) const { return nodes_[value].terms; }
  /// Every term is a zero (kZeroOfRank).
  bool only_zeros(ValueId value) const { return nodes_[value].zeros; }
  /// All terms, repeated ones as often as they occur. Call it only when terms(value) <= kMaxTerms.
  std::vector<Term> terms_of(ValueId value) const;

 private:
  struct Node {
    ValueId left = kInput, right = kInput;  // of a sum; kInput for a single term
    Term term;
    std::uint32_t terms = 1;
    bool zeros = false;
  };
  std::vector<Node> nodes_{Node{}};  // node 0 stands for kInput
  PairMemo single_;
  PairMemo sums_;
};

}  // namespace hsap::proof
