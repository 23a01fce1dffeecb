// Which (query, key) pairs attention may compute on a packed batch: a query sees keys of its own document only, those that the
// rule (mask_rule.hpp) shows to it. Everything works on intervals, never on tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "planner/ir/mask_rule.hpp"
#include "planner/ir/token_set.hpp"

namespace hsap {

/// Keys that a query, or a range of queries of one document, sees. The sinks lie before the others; either may be empty.
struct VisibleKeys {
  TokenRange sinks;
  TokenRange main;
  Token size() const { return sinks.size() + main.size(); }
  bool contains(Token key) const { return (sinks.begin <= key && key < sinks.end) || (main.begin <= key && key < main.end); }
  bool operator==(const VisibleKeys&) const = default;
};

/// Queries that see some key of a range of keys of one document: of those below the document's sinks, and of the others. Each
/// may be empty; they may overlap.
struct SeeingQueries {
  TokenRange of_sinks;
  TokenRange of_others;
  bool operator==(const SeeingQueries&) const = default;
};

class DocumentMask {
 public:
  DocumentMask() = default;
  /// `offsets` = cu_seqlens: starts at 0, strictly ascending, last = token count (empty documents are dropped by the readers).
  /// Throws InvalidInput naming the first offset that does not ascend, or for a rule that check() refuses.
  explicit DocumentMask(std::vector<Token> offsets, const MaskRule& rule = {});

  Token tokens() const { return offsets_.empty() ? 0 : offsets_.back(); }
  std::size_t documents() const { return offsets_.empty() ? 0 : offsets_.size() - 1; }
  const std::vector<Token>& offsets() const { return offsets_; }
  const MaskRule& rule() const { return rule_; }

  TokenRange document(std::size_t index) const { return {offsets_[index], offsets_[index + 1]}; }
  /// Index of the document that holds `token`. O(log documents).
  std::size_t document_of(Token token) const;
  /// Keys that `query` may see. O(log documents).
  VisibleKeys visible_keys(Token query) const;

  /// Number of (query, key) pairs inside the mask with query in `queries` and key in `keys`. O(|queries| + |keys|) intervals,
  /// and blocks that they touch.
  std::int64_t pairs(const TokenSet& queries, const TokenSet& keys) const;
  /// Pairs of the whole batch, l(l+1)/2 of a document of l tokens under the causal rule. O(documents).
  std::int64_t pairs() const;

  /// Keys that some query of `queries` may see.
  TokenSet keys_seen_by(const TokenSet& queries) const;
  /// Queries that may see some key of `keys`.
  TokenSet queries_seeing(const TokenSet& keys) const;
  /// Those of them that are in `among`, as normalised ranges in place of what was in `queries`.
  void queries_seeing(const TokenSet& keys, const TokenSet& among, std::vector<TokenRange>& queries) const;
  /// The same for one non-empty range inside a document: every key of the answer is seen by some row of `rows`, every query of
  /// the answer sees some key. O(1).
  VisibleKeys keys_seen_by(std::size_t document, TokenRange rows) const;
  SeeingQueries queries_seeing(std::size_t document, TokenRange keys) const;

  bool operator==(const DocumentMask&) const = default;

 private:
  /// Calls visit(queries) for ranges that together are the queries that may see some key of `keys`.
  template <class Visit>
  void each_seeing(const TokenSet& keys, const Visit& visit) const;

  std::vector<Token> offsets_;
  MaskRule rule_;
};

}  // namespace hsap
