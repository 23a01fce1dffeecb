#include <algorithm>

#include "planner/placement/cost_cut_steps.hpp"

namespace hsap {

void settle_bins(const RowCost& rows, double tolerance, std::vector<Bin>& bins) {
  if (!token_limits_met(bins)) {
    // fillers and tails push each other, so the limits are seen to before the chains and after
    meet_token_limits(bins, rows);
    recut_chains(bins, rows);
    meet_token_limits(bins, rows);
  }
  level_costs(bins, rows, tolerance);
}

bool fill_bins(const std::vector<Piece>& pieces, const RowCost& rows, double tolerance, std::vector<Bin>& bins) {
  const bool caps_bind = !spread(pieces, rows, tolerance, bins);
  if (caps_bind) {
    for (Bin& bin : bins) bin.clear();
    spread_under_caps(pieces, rows, tolerance, {}, bins);
  }
  settle_bins(rows, tolerance, bins);
  return caps_bind;
}

}  // namespace hsap
