#include "planner/placement/bounds/coupled_volume.hpp"

#include <algorithm>
#include <cmath>

#include "planner/placement/bounds/row_atomic_volume.hpp"

namespace hsap {

namespace {

constexpr double kFirstStep = 1e-5;  // of the geometric ones, over the longest length; a token at least

/// Where the integrand is taken, ascending from 0 to `longest`.
std::vector<double> steps_up_to(double longest, int count) {
  std::vector<double> steps;
  const double first = std::max(1.0, longest * kFirstStep);
  for (int i = 0; i < count; ++i) {
    const double share = static_cast<double>(i) / (count - 1);
    steps.push_back(longest * share);
    steps.push_back(std::min(longest, first * std::pow(longest / first, share)));
  }
  steps.push_back(longest);
  std::sort(steps.begin(), steps.end());
  return steps;
}

/// How many rows lie below a position, and what they cost, over all documents. O(log n) each.
class RowsBelow {
 public:
  RowsBelow(std::vector<Token> lengths, const RankCaps& caps) : caps_(caps), lengths_(std::move(lengths)) {
    std::sort(lengths_.begin(), lengths_.end());
    rows_.push_back(0);
    costs_.push_back(0);
    for (const Token length : lengths_) {
      rows_.push_back(rows_.back() + static_cast<double>(length));
      costs_.push_back(costs_.back() + caps_.rows_cost(static_cast<double>(length)));
    }
  }
  std::size_t documents() const { return lengths_.size(); }
  double longest() const { return static_cast<double>(lengths_.back()); }
  double cost() const { return costs_.back(); }
  /// Documents, counted from the shortest, that end at or before `position`, or before it.
  std::size_t ended(double position) const { return first_after(position, false); }
  std::size_t ended_before(double position) const { return first_after(position, true); }

  double rows(double position) const {
    const std::size_t whole = ended(position);
    return rows_[whole] + cut(whole) * position;
  }
  double cost(double position) const { return cost(position, ended(position)); }

  /// Cost less `price` per row of the rows below a position.
  double worth(double position, double price) const { return cost(position) - price * rows(position); }

  /// The least position in (0, end] at which worth() has fallen to `worth`. @pre worth() falls from 0 to `end`, and is below
  /// `worth` there but not at 0
  double position_of(double worth, double price, double end) const {
    std::size_t above = 0;  // worth is still above at the end of the document before this one
    std::size_t at_most = ended(end);
    while (above < at_most) {
      const std::size_t middle = (above + at_most) / 2;
      if (this->worth(static_cast<double>(lengths_[middle]), price) > worth)
        above = middle + 1;
      else
        at_most = middle;
    }
    // Here worth() = whole + cut (x^2 / 2 - p x) with x < p.
    const double whole = costs_[above] - price * rows_[above];
    const double p = price - caps_.pairs_per_token - 0.5;
    const double fallen = std::max(0.0, (whole - worth) / cut(above));
    return 2 * fallen / (p + std::sqrt(std::max(0.0, p * p - 2 * fallen)));
  }

 private:
  std::size_t first_after(double position, bool or_at) const {
    const auto begin = lengths_.begin();
    const auto found = or_at ? std::partition_point(begin, lengths_.end(),
                                                    [&](Token length) { return static_cast<double>(length) < position; })
                             : std::partition_point(begin, lengths_.end(),
                                                    [&](Token length) { return static_cast<double>(length) <= position; });
    return static_cast<std::size_t>(found - begin);
  }
  double cut(std::size_t whole) const { return static_cast<double>(lengths_.size() - whole); }
  double cost(double position, std::size_t whole) const { return costs_[whole] + cut(whole) * caps_.rows_cost(position); }

  RankCaps caps_;
  std::vector<Token> lengths_;  // ascending
  std::vector<double> rows_;    // of the first i documents
  std::vector<double> costs_;
};

/// N(x).
double ranks_from(double x, const RowsBelow& below, int ranks, const RankCaps& caps) {
  const double spare = ranks * caps.cost - below.cost();
  const double cost_below = below.cost(x);
  const double rows_below = below.rows(x);
  // G ranks hold the costliest G caps.tokens rows below x, those in [z, x). What they can do less what they must is f(z) =
  // cost(z, x) - price rows(z, x) + spare, price = what a row costs when both caps are reached: it rises in z while rows cost
  // less than the price, then falls to f(x) = spare >= 0.
  const double price = caps.cost / caps.tokens;
  const double worth_below = cost_below - price * rows_below + spare;    // f(0)
  const double cheap = std::min(x, price - caps.pairs_per_token - 0.5);  // end of the rows that cost less than the price
  double living_below;
  if (worth_below >= 0 || cheap <= 0)
    living_below = (cost_below + spare) / caps.cost;  // all rows below x, and tokens to spare
  else
    living_below = (rows_below - below.rows(below.position_of(worth_below, price, cheap))) / caps.tokens;
  return std::max(0.0, ranks - living_below);
}

}  // namespace

double coupled_volume(const std::vector<Token>& lengths, int ranks, const RankCaps& caps, int steps) {
  if (lengths.empty() || std::isinf(caps.tokens) || std::isinf(caps.cost)) return row_atomic_volume(lengths, caps);
  const RowsBelow below(lengths, caps);
  const std::vector<double> cuts = cut_positions(lengths, caps);  // descending
  auto cuts_from = cuts.size();                                   // cuts at or above the position
  double reach = 0;                                               // sum over (document, rank) of how far it reaches
  double begin = 0;
  for (const double end : steps_up_to(below.longest(), steps)) {
    if (end == begin) continue;
    while (cuts_from > 0 && cuts[cuts_from - 1] < end) --cuts_from;
    const auto pieces = static_cast<double>(below.documents() - below.ended_before(end) + cuts_from);  // sum of n_d just below
    reach += (end - begin) * std::max(pieces, ranks_from(end, below, ranks, caps));
    begin = end;
  }
  return std::max(row_atomic_volume(lengths, caps), reach - below.rows(below.longest()));
}

}  // namespace hsap
