// Which bin has most room, while bins are filled one piece after another.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace hsap {

/// A tournament of bins: the one with most room wins, of equal ones the first. A bin whose room changes plays its log2(bins)
/// games again. Its opponents are known beforehand and no game needs a branch, which is why it is faster than a heap where the
/// winner itself changes every time.
class MostRoom {
 public:
  /// rooms[bin]. @pre not empty
  explicit MostRoom(std::span<const double> rooms) : bins_(std::bit_ceil(rooms.size())), winners_(2 * bins_) {
    for (std::uint32_t bin = 0; bin < bins_; ++bin)
      winners_[bins_ + bin] = {order_of(bin < rooms.size() ? rooms[bin] : -std::numeric_limits<double>::infinity()), bin};
    for (std::size_t game = bins_ - 1; game > 0; --game) winners_[game] = winner(winners_[2 * game], winners_[2 * game + 1]);
  }

  std::size_t bin() const { return winners_[1].bin; }
  void set(std::size_t bin, double room) {
    Entry best{order_of(room), static_cast<std::uint32_t>(bin)};
    std::size_t place = bins_ + bin;
    for (; place > 1; place /= 2) {
      winners_[place] = best;
      best = winner(best, winners_[place ^ 1]);
    }
    winners_[place] = best;
  }

 private:
  struct Entry {
    std::int64_t room = 0;  // as order_of() counts
    std::uint32_t bin = 0;
  };
  /// Doubles as whole numbers in the same order: the winner of two can be worked out of these without a branch.
  static std::int64_t order_of(double room) {
    const auto bits = std::bit_cast<std::int64_t>(room);
    return bits ^ (bits >> 63 & std::numeric_limits<std::int64_t>::max());  // the larger a negative one's bits, the less it is
  }
  static Entry winner(const Entry& a, const Entry& b) {
    const bool b_wins = (b.room > a.room) | ((b.room == a.room) & (b.bin < a.bin));
    const auto all_bits = -static_cast<std::int64_t>(b_wins);  // compilers make a branch of ?:
    return {a.room ^ ((a.room ^ b.room) & all_bits), a.bin ^ ((a.bin ^ b.bin) & static_cast<std::uint32_t>(all_bits))};
  }

  std::size_t bins_;            // a power of two: those beyond the real ones have no room
  std::vector<Entry> winners_;  // [1] of all; those of [2 i] and [2 i + 1] play for [i]; the last bins_ are the bins
};

}  // namespace hsap
