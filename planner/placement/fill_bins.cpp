#include <algorithm>
#include <utility>

#include "planner/placement/cost_cut_steps.hpp"
#include "planner/placement/entering_keys.hpp"

namespace hsap {

namespace {

struct Quality {
  double longest = 0;  // cost over target
  Token keys = 0;      // that enter
};

Quality quality_of(const std::vector<Bin>& bins, const DocumentMask& mask) {
  Quality quality;
  for (const Bin& bin : bins) {
    if (bin.target > 0) quality.longest = std::max(quality.longest, bin.cost / bin.target);
    quality.keys += entering_keys(bin, mask);
  }
  return quality;
}

}  // namespace

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
  if (spread(pieces, rows, tolerance, bins)) {
    settle_bins(rows, tolerance, bins);
    return false;
  }
  for (Bin& bin : bins) bin.clear();
  std::vector<Bin> others = bins;
  for (std::size_t i = 0; i < bins.size(); ++i) others[i].pieces.reserve(bins[i].pieces.capacity());
  const bool has_heavy_fillers = spread_under_caps(pieces, rows, tolerance, {}, Fillers::whole, bins);
  settle_bins(rows, tolerance, bins);
  if (!has_heavy_fillers) return true;

  spread_under_caps(pieces, rows, tolerance, {}, Fillers::cut, others);
  const Quality kept = quality_of(bins, rows.mask());
  if (quality_of(others, rows.mask()).keys >= kept.keys) return true;  // settling seldom takes keys away
  settle_bins(rows, tolerance, others);
  const Quality other = quality_of(others, rows.mask());
  if (other.keys < kept.keys && other.longest <= kept.longest + tolerance) bins = std::move(others);
  return true;
}

}  // namespace hsap
