// Which bin has most room, while bins are filled one piece after another.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "planner/placement/bin.hpp"

namespace hsap {

/// A tournament of bins: the one with most room wins, of equal ones the first, and rooms that differ in their last log2(bins)
/// bits of 52 alone are equal. A bin whose room changes plays its log2(bins) games again. Its opponents are known beforehand
/// and no game needs a branch, which nobody could predict: so it is faster than a heap where the winner's own room changes
/// every time.
class MostRoom {
 public:
  /// @pre there are bins
  explicit MostRoom(const std::vector<Bin>& bins) : places_(std::bit_ceil(bins.size())), winners_(2 * places_, kNoRoom) {
    for (std::size_t bin = 0; bin < bins.size(); ++bin) winners_[places_ + bin] = entry(bin, bins[bin].room());
    for (std::size_t game = places_ - 1; game > 0; --game)
      winners_[game] = std::max(winners_[2 * game], winners_[2 * game + 1]);
  }

  std::size_t bin() const { return last() - (static_cast<std::size_t>(winners_[1]) & last()); }
  void set(std::size_t bin, double room) {
    std::int64_t best = entry(bin, room);
    for (std::size_t place = places_ + bin; place > 1; place /= 2) {
      winners_[place] = best;
      best = std::max(best, winners_[place ^ 1]);
    }
    winners_[1] = best;
  }

 private:
  static constexpr std::int64_t kNoRoom = std::numeric_limits<std::int64_t>::min();

  std::size_t last() const { return places_ - 1; }
  /// A room as a whole number of the same order, whose last bits say which bin it is.
  std::int64_t entry(std::size_t bin, double room) const {
    const auto bits = std::bit_cast<std::int64_t>(room);
    const std::int64_t ordered =
        bits ^ (bits >> 63 & std::numeric_limits<std::int64_t>::max());  // what is below zero ascends, too
    const auto last_bits = static_cast<std::int64_t>(last());
    return (ordered & ~last_bits) | (last_bits - static_cast<std::int64_t>(bin));
  }

  std::size_t places_;                 // a power of two: those beyond the bins have no room
  std::vector<std::int64_t> winners_;  // [1] of all; those of [2 i] and [2 i + 1] play for [i]; the last half are the bins
};

}  // namespace hsap
