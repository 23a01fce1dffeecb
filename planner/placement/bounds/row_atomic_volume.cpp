#include "planner/placement/bounds/row_atomic_volume.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace hsap {

namespace {

/// The number of pieces off the tail, from which on the token cap says where the next one begins: rows get cheaper towards the
/// head, so pieces of equal cost get longer, and once k of them are longer than k token caps they stay so. Hands out the
/// positions before that.
template <typename Take>
double cuts_by_cost(double length, const RankCaps& caps, Take take) {
  for (double pieces = 1;; ++pieces) {
    const double by_cost = caps.tail_begin(length, pieces * caps.cost);
    if (length - pieces * caps.tokens >= by_cost || by_cost == 0) return pieces;
    take(by_cost);
  }
}

}  // namespace

double row_atomic_volume(double length, const RankCaps& caps) {
  double keys = 0;
  const double first = cuts_by_cost(length, caps, [&](double x) { keys += x; });
  const double last = std::ceil(length / caps.tokens) - 1;  // most whole caps that leave rows over
  if (last >= first) keys += (last - first + 1) * (length - caps.tokens * (first + last) / 2);
  return keys;
}

double row_atomic_volume(const std::vector<Token>& lengths, const RankCaps& caps) {
  double keys = 0;
  for (const Token length : lengths)
    if (caps.must_cut(static_cast<double>(length))) keys += row_atomic_volume(static_cast<double>(length), caps);
  return keys;
}

std::vector<double> cut_positions(const std::vector<Token>& lengths, const RankCaps& caps) {
  std::vector<double> positions;
  for (const Token tokens : lengths) {
    const auto length = static_cast<double>(tokens);
    if (!caps.must_cut(length)) continue;
    double pieces = cuts_by_cost(length, caps, [&](double x) { positions.push_back(x); });
    for (; length - pieces * caps.tokens > 0; ++pieces) positions.push_back(length - pieces * caps.tokens);
  }
  std::sort(positions.begin(), positions.end(), std::greater<>());
  return positions;
}

double most_received_by_a_rank(const std::vector<Token>& lengths, const RankCaps& caps) {
  if (lengths.empty()) return 0;
  return std::max(0.0, static_cast<double>(*std::max_element(lengths.begin(), lengths.end())) - caps.tokens);
}

}  // namespace hsap
