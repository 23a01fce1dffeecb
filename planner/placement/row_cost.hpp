// What the rows (query positions) of a document cost, in (query, key) pairs, and where to cut a document to get rows of a
// wanted cost. Rows are counted from the start of their document. No function here loops over tokens.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "planner/ir/document_mask.hpp"

namespace hsap {

/// A row costs the keys that it sees under the mask, and `pairs_per_token` for the work of its token. Keeps the mask.
class RowCost {
 public:
  RowCost(const DocumentMask& mask, double pairs_per_token);

  const DocumentMask& mask() const { return *mask_; }
  /// Of the mask.
  std::size_t documents() const { return mask_->documents(); }
  /// Rows of a document.
  Token length(std::size_t document) const { return mask_->document(document).size(); }
  /// Cost of the rows [begin, end) of a document. O(1).
  double of(std::size_t document, Token begin, Token end) const {
    return triangle_ ? below_in_triangle(end) - below_in_triangle(begin)
                     : below_by_rule(document, end) - below_by_rule(document, begin);
  }

  /// The x for which the cost of [x, end) is nearest to `cost`, within [begin, end]: a piece of that cost off the tail. O(1)
  /// for causal attention and causal windows, O(log(end - begin)) for other rules.
  Token tail_begin(std::size_t document, Token begin, Token end, double cost) const {
    return row_at(document, begin, end, below(document, end) - cost);
  }
  /// The x for which the cost of [begin, x) is nearest to `cost`, within [begin, end]: a piece of that cost off the head.
  Token head_end(std::size_t document, Token begin, Token end, double cost) const {
    return row_at(document, begin, end, below(document, begin) + cost);
  }

  /// The same rows when a token is worth `price` pairs: row i costs `price` less, and may cost less than nothing. Where the
  /// costs of the rows do not ascend, cuts are then made at one of the places where the wanted cost is met, or at an end.
  RowCost less(double price) const {
    RowCost rows = *this;
    rows.pairs_per_token_ -= price;
    return rows;
  }

  /// Keys on either side of a cut before row x > 0 that rows on the other side need: what the cut adds to the keys that must be
  /// moved. x under the causal rule, none between two blocks.
  Token keys_across(std::size_t document, Token x) const { return triangle_ ? x : keys_across_by_rule(document, x); }

 private:
  /// Cost of the rows before `row`.
  double below(std::size_t document, Token row) const {
    return triangle_ ? below_in_triangle(row) : below_by_rule(document, row);
  }
  double below_in_triangle(Token row) const {
    return 0.5 * static_cast<double>(row * (row + 1)) + pairs_per_token_ * static_cast<double>(row);
  }
  double below_by_rule(std::size_t document, Token row) const;
  /// The row within [begin, end] for which below() is nearest to `cost`.
  Token row_at(std::size_t document, Token begin, Token end, double cost) const {
    if (!ascends_) return searched_row_at(document, begin, end, cost);
    const double row = std::clamp(ascending_row_at(cost), static_cast<double>(begin), static_cast<double>(end));
    const auto rounded_down = static_cast<Token>(row);
    return rounded_down + (row - static_cast<double>(rounded_down) >= 0.5 ? 1 : 0);
  }
  Token searched_row_at(std::size_t document, Token begin, Token end, double cost) const;
  /// For rows whose cost ascends up to a constant: the largest real x with below(x) = cost; the place of the minimum of below()
  /// when cost is less than that.
  double ascending_row_at(double cost) const {
    if (!triangle_)
      if (const std::optional<double> row = row_beyond_window_at(cost)) return *row;
    // x^2 / 2 + h x = cost with h = lambda + 1/2, in the form that does not cancel
    const double h = pairs_per_token_ + 0.5;
    const double root = std::sqrt(std::max(0.0, h * h + 2 * cost));
    return h > 0 ? 2 * cost / (h + root) : root - h;
  }
  /// The same where the window binds; nothing where it does not.
  std::optional<double> row_beyond_window_at(double cost) const;
  Token keys_across_by_rule(std::size_t document, Token x) const;

  const DocumentMask* mask_;
  double pairs_per_token_;
  bool ascends_;   // row i sees i + 1 keys, or as many as its window holds: worth a closed form
  bool triangle_;  // row i sees i + 1 keys: nearly every layer, so it is looked at first
};

}  // namespace hsap
