// What the rows (query positions) of a document cost, in (query, key) pairs, and where to cut a document to get rows of a
// wanted cost. Rows are counted from the start of their document. Closed forms only: no function here loops over tokens.
#pragma once

#include <optional>

#include "planner/ir/ids.hpp"

namespace hsap {

/// Row i costs min(i + 1, window) + pairs_per_token: the keys that it sees under the causal mask, and the work of its token.
class RowCost {
 public:
  RowCost(std::optional<Token> window, double pairs_per_token);

  /// Cost of the rows [begin, end).
  double of(Token begin, Token end) const { return below(end) - below(begin); }

  /// The x for which the cost of [x, end) is nearest to `cost`, within [begin, end]: a piece of that cost off the tail.
  Token tail_begin(Token begin, Token end, double cost) const;
  /// The x for which the cost of [begin, x) is nearest to `cost`, within [begin, end]: a piece of that cost off the head.
  Token head_end(Token begin, Token end, double cost) const;

  /// The same rows when a token is worth `price` pairs: row i costs `price` less, and may cost less than nothing.
  RowCost less(double price) const;

  /// Keys outside [x, ...) that the rows from x on need: what a cut at x adds to the keys that must be moved.
  Token keys_before(Token x) const { return window_ && x > *window_ - 1 ? *window_ - 1 : x; }

 private:
  double below(Token row) const;
  /// The largest real x with below(x) = cost; the place of the minimum of below() when cost is less than that.
  double row_at(double cost) const;

  std::optional<Token> window_;
  double pairs_per_token_;
};

}  // namespace hsap
