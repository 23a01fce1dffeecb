// Random token sets and document masks for comparisons with brute force.
#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include "planner/ir/document_mask.hpp"
#include "planner/ir/token_set.hpp"
#include "tests/mask_rules.hpp"

namespace hsap::test {

inline Token draw(std::mt19937& random, Token least, Token most) {
  return std::uniform_int_distribution<Token>(least, most)(random);
}

/// Members of [0, tokens), each run of members and of others up to `longest` long; may be empty.
inline TokenSet random_set(std::mt19937& random, Token tokens, Token longest = 5) {
  std::vector<TokenRange> ranges;
  for (Token at = draw(random, 0, longest); at < tokens; at += draw(random, 1, longest)) {
    const Token end = std::min(tokens, at + draw(random, 1, longest));
    ranges.push_back({at, end});
    at = end;
  }
  return TokenSet(std::move(ranges));
}

/// Documents of 1 .. `longest` tokens that fill [0, tokens).
inline DocumentMask random_mask(std::mt19937& random, Token tokens, Token longest, const MaskRule& rule) {
  std::vector<Token> offsets{0};
  while (offsets.back() < tokens) offsets.push_back(std::min(tokens, offsets.back() + draw(random, 1, longest)));
  return DocumentMask(std::move(offsets), rule);
}

/// A rule of any kind with lengths up to `longest`.
inline MaskRule random_rule(std::mt19937& random, Token longest) {
  const auto length = [&] { return draw(random, 1, longest); };
  const int kind = static_cast<int>(draw(random, 0, kRuleKinds - 1));
  const Token near = length(), far = length(), sinks = length();
  return rule_of_kind(kind, near, far, sinks);
}

/// All members, one by one.
inline std::vector<Token> members(const TokenSet& set) {
  std::vector<Token> tokens;
  for (const TokenRange& range : set.ranges())
    for (Token t = range.begin; t < range.end; ++t) tokens.push_back(t);
  return tokens;
}

/// The set of the tokens of [0, tokens) for which `is_member` holds.
template <class Predicate>
TokenSet set_of(Token tokens, Predicate&& is_member) {
  std::vector<TokenRange> ranges;
  for (Token t = 0; t < tokens; ++t)
    if (is_member(t)) ranges.push_back({t, t + 1});
  return TokenSet(std::move(ranges));
}

}  // namespace hsap::test
