#include "planner/placement/row_cost.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hsap {

namespace {

/// Row i sees i + 1 keys, or as many as its window holds: nearly every layer, and worth a closed form.
bool rows_ascend(const MaskRule& rule) { return rule.is_causal() && !rule.chunk && rule.sinks == 0; }

}  // namespace

RowCost::RowCost(const DocumentMask& mask, double pairs_per_token)
    : mask_(&mask), pairs_per_token_(pairs_per_token), triangle_(rows_ascend(mask.rule()) && !mask.rule().left) {}

RowCost RowCost::less(double price) const { return RowCost(*mask_, pairs_per_token_ - price); }

// x (x + 1) / 2 + lambda x as long as the window does not bind, then window + lambda for each further row.
double RowCost::ascending_row_at(double cost) const {
  if (mask_->rule().left) {
    const double window = static_cast<double>(*mask_->rule().left) + 1;
    const double slope = window + pairs_per_token_;
    const double below_window = 0.5 * window * (window + 1) + pairs_per_token_ * window;
    if (cost > below_window)
      return slope > 0 ? window + (cost - below_window) / slope : std::numeric_limits<double>::infinity();
  }
  // x^2 / 2 + h x = cost with h = lambda + 1/2, in the form that does not cancel
  const double h = pairs_per_token_ + 0.5;
  const double root = std::sqrt(std::max(0.0, h * h + 2 * cost));
  return h > 0 ? 2 * cost / (h + root) : root - h;
}

Token RowCost::row_at(std::size_t document, Token begin, Token end, double cost) const {
  if (rows_ascend(mask_->rule()))
    return static_cast<Token>(
        std::llround(std::clamp(ascending_row_at(cost), static_cast<double>(begin), static_cast<double>(end))));
  while (end - begin > 1) {
    const Token middle = begin + (end - begin) / 2;
    (below(document, middle) <= cost ? begin : end) = middle;
  }
  return std::abs(below(document, begin) - cost) <= std::abs(below(document, end) - cost) ? begin : end;
}

Token RowCost::tail_begin(std::size_t document, Token begin, Token end, double cost) const {
  return row_at(document, begin, end, below(document, end) - cost);
}

Token RowCost::head_end(std::size_t document, Token begin, Token end, double cost) const {
  return row_at(document, begin, end, below(document, begin) + cost);
}

Token RowCost::keys_across(std::size_t document, Token x) const {
  const MaskRule& rule = mask_->rule();
  return x - rule.first_key(x) + rule.sink_end(x) + rule.end_key(x - 1, length(document)) - x;
}

}  // namespace hsap
