#include "planner/placement/row_cost.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hsap {

namespace {

Token nearest_row(double row, Token begin, Token end) {
  return static_cast<Token>(std::llround(std::clamp(row, static_cast<double>(begin), static_cast<double>(end))));
}

}  // namespace

RowCost::RowCost(std::optional<Token> window, double pairs_per_token) : window_(window), pairs_per_token_(pairs_per_token) {}

RowCost RowCost::less(double price) const { return RowCost(window_, pairs_per_token_ - price); }

// x (x + 1) / 2 + lambda x as long as the window does not bind, then window + lambda for each further row.
double RowCost::below(Token row) const {
  const auto x = static_cast<double>(row);
  const double full = window_ ? static_cast<double>(std::min(row, *window_)) : x;
  return 0.5 * full * (full + 1) + (x - full) * full + pairs_per_token_ * x;
}

double RowCost::row_at(double cost) const {
  if (window_ && cost > below(*window_)) {
    const double slope = static_cast<double>(*window_) + pairs_per_token_;
    if (slope <= 0) return std::numeric_limits<double>::infinity();
    return static_cast<double>(*window_) + (cost - below(*window_)) / slope;
  }
  // x^2 / 2 + h x = cost with h = lambda + 1/2, in the form that does not cancel
  const double h = pairs_per_token_ + 0.5;
  const double root = std::sqrt(std::max(0.0, h * h + 2 * cost));
  return h > 0 ? 2 * cost / (h + root) : root - h;
}

Token RowCost::tail_begin(Token begin, Token end, double cost) const {
  return nearest_row(row_at(below(end) - cost), begin, end);
}

Token RowCost::head_end(Token begin, Token end, double cost) const {
  return nearest_row(row_at(below(begin) + cost), begin, end);
}

}  // namespace hsap
