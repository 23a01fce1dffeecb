// Which (query, key) pairs attention may compute on a packed batch: the document-causal mask, optionally with a sliding window.
// Query q of the document [s, e) sees keys [max(s, q - window + 1), q]. Everything works on intervals, never on tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "planner/ir/token_set.hpp"

namespace hsap {

class DocumentMask {
 public:
  DocumentMask() = default;
  /// `offsets` = cu_seqlens: starts at 0, strictly ascending, last = token count (empty documents are dropped by the readers).
  /// `window` = sliding-window length in tokens, the query itself included (>= 1); nullopt = unlimited.
  /// Throws InvalidInput naming the first offset that does not ascend.
  explicit DocumentMask(std::vector<Token> offsets, std::optional<Token> window = std::nullopt);

  Token tokens() const { return offsets_.empty() ? 0 : offsets_.back(); }
  std::size_t documents() const { return offsets_.empty() ? 0 : offsets_.size() - 1; }
  const std::vector<Token>& offsets() const { return offsets_; }
  const std::optional<Token>& window() const { return window_; }

  TokenRange document(std::size_t index) const { return {offsets_[index], offsets_[index + 1]}; }
  /// Index of the document that holds `token`. O(log documents).
  std::size_t document_of(Token token) const;
  /// Keys that `query` may see. O(log documents).
  TokenRange visible_keys(Token query) const;

  /// Number of (query, key) pairs inside the mask with query in `queries` and key in `keys`. O(|queries| + |keys|) intervals.
  std::int64_t pairs(const TokenSet& queries, const TokenSet& keys) const;
  /// Pairs of the whole batch: sum over documents of l(l+1)/2 without a window. O(documents).
  std::int64_t pairs() const;

  /// Keys that some query of `queries` may see. For rows [a,b) of the document [s,e): [max(s, a-window+1), b).
  TokenSet keys_seen_by(const TokenSet& queries) const;
  /// Queries that may see some key of `keys`. For rows [a,b) of the document [s,e): [a, min(e, b-1+window)).
  TokenSet queries_seeing(const TokenSet& keys) const;

  bool operator==(const DocumentMask&) const = default;

 private:
  std::vector<Token> offsets_;
  std::optional<Token> window_;
};

}  // namespace hsap
