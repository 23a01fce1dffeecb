// Mask rules token by token: the definition that all intervals are compared with, and rules of every kind to compare.
#pragma once

#include "planner/ir/document_mask.hpp"

namespace hsap::test {

/// Whether `query` sees `key`, both numbered in the batch: said once more, in tokens and slowly.
inline bool sees(const DocumentMask& mask, Token query, Token key) {
  if (mask.document_of(query) != mask.document_of(key)) return false;
  const Token begin = mask.document(mask.document_of(query)).begin;
  const Token q = query - begin;
  const Token k = key - begin;
  const MaskRule& rule = mask.rule();
  if (k > q) return !rule.right || k - q <= *rule.right || k < rule.prefix;
  if (k < rule.sinks) return true;
  if (rule.left) return q - k <= *rule.left;
  return !rule.chunk || q / *rule.chunk == k / *rule.chunk;
}

inline constexpr int kRuleKinds = 10;

/// causal, full, ahead, window, two-sided window, the same two with sinks, blocks, blocks with sinks, prefix. `near` >= 1,
/// `far`
/// >= 1 and `sinks` >= 1 are the lengths that the rule has.
inline MaskRule rule_of_kind(int kind, Token near, Token far, Token sinks) {
  MaskRule rule;
  switch (kind) {
    case 1:
      rule.right = std::nullopt;
      break;
    case 2:
      rule.right = near;
      break;
    case 3:
    case 4:
      rule = window_rule(far);
      break;
    case 5:
    case 6:
      rule.left = far;
      rule.right = near;
      break;
    case 7:
    case 8:
      rule = block_rule(far);
      break;
    case 9:
      rule.prefix = far;
      break;
    default:
      break;
  }
  if (kind == 4 || kind == 6 || kind == 8) rule.sinks = sinks;
  return rule;
}

}  // namespace hsap::test
