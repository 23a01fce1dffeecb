// Random layers for backend tests: packings with documents of one token, mask rules, GQA ratios, odd widths, decay. All from one
// seed.
#pragma once

#include <random>
#include <vector>

#include "planner/ir/attention_shape.hpp"
#include "planner/ir/document_mask.hpp"
#include "tests/mask_rules.hpp"

namespace hsap {

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  /// first .. last
  int between(int first, int last) { return first + static_cast<int>(engine_() % static_cast<unsigned>(last - first + 1)); }
  int one_of(const std::vector<int>& choices) {
    return choices[static_cast<std::size_t>(between(0, static_cast<int>(choices.size()) - 1))];
  }
  bool one_in(int n) { return between(1, n) == 1; }

 private:
  std::mt19937 engine_;
};

inline DocumentMask random_mask(Random& random, int tokens, bool any_rule) {
  std::vector<Token> offsets{0};
  while (offsets.back() < tokens) {
    const int length = random.one_in(3) ? 1 : random.between(1, random.one_of({8, 60, 2 * tokens}));
    offsets.push_back(std::min<Token>(tokens, offsets.back() + length));
  }
  if (!any_rule || random.one_in(3)) return DocumentMask(offsets);
  const int kind = random.between(0, test::kRuleKinds - 1);
  const Token near = random.between(1, 40), far = random.between(1, 40), sinks = random.between(1, 8);
  return DocumentMask(offsets, test::rule_of_kind(kind, near, far, sinks));
}

inline AttentionShape random_shape(Random& random, AttentionKind kind) {
  AttentionShape shape;
  shape.kind = kind;
  shape.kv_heads = random.one_of({1, 2, 3});
  shape.query_heads = shape.kv_heads * random.one_of({1, 2, 4});
  shape.qk_dim = random.one_of({1, 3, 8, 17, 32, 40, 64});
  shape.v_dim = random.one_of({1, 5, 8, 16, 31, 33, 64});
  if (kind == AttentionKind::linear) shape.decay = random.one_of({0, 1, 10, 300}) / 10.0;
  return shape;
}

/// About `part` percent of the tokens, in pieces.
inline TokenSet random_tokens(Random& random, Token tokens, int percent) {
  std::vector<TokenRange> ranges;
  for (Token begin = 0; begin < tokens;) {
    const Token end = std::min<Token>(tokens, begin + random.between(1, 30));
    if (random.between(1, 100) <= percent) ranges.push_back({begin, end});
    begin = end;
  }
  return TokenSet(std::move(ranges));
}

}  // namespace hsap
