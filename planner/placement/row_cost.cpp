#include "planner/placement/row_cost.hpp"

#include <cmath>
#include <limits>

namespace hsap {

RowCost::RowCost(const DocumentMask& mask, double pairs_per_token)
    : mask_(&mask),
      pairs_per_token_(pairs_per_token),
      ascends_(mask.rule().is_causal() && !mask.rule().chunk && mask.rule().sinks == 0),
      triangle_(ascends_ && !mask.rule().left) {}

double RowCost::below_by_rule(std::size_t document, Token row) const {
  return static_cast<double>(mask_->rule().pairs(row, length(document))) + pairs_per_token_ * static_cast<double>(row);
}

// x (x + 1) / 2 + lambda x as long as the window does not bind, then window + lambda for each further row.
std::optional<double> RowCost::row_beyond_window_at(double cost) const {
  const double window = static_cast<double>(*mask_->rule().left) + 1;
  const double slope = window + pairs_per_token_;
  const double below_window = 0.5 * window * (window + 1) + pairs_per_token_ * window;
  if (cost <= below_window) return std::nullopt;
  return slope > 0 ? window + (cost - below_window) / slope : std::numeric_limits<double>::infinity();
}

Token RowCost::searched_row_at(std::size_t document, Token begin, Token end, double cost) const {
  while (end - begin > 1) {
    const Token middle = begin + (end - begin) / 2;
    (below(document, middle) <= cost ? begin : end) = middle;
  }
  return std::abs(below(document, begin) - cost) <= std::abs(below(document, end) - cost) ? begin : end;
}

Token RowCost::keys_across_by_rule(std::size_t document, Token x) const {
  const MaskRule& rule = mask_->rule();
  return x - rule.first_key(x) + rule.sink_end(x) + rule.end_key(x - 1, length(document)) - x;
}

}  // namespace hsap
