// One link as the messages of one Exchange see it: with n of them under way each gets 1/n of its bandwidth. Used by estimate().
#pragma once

#include <cstdint>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

namespace hsap {

/// Processor sharing in virtual time: since all messages in the queue are served alike, the one that leaves next is the one
/// with the fewest bytes left when all counted what each has been given so far. O(log n) per arrival and departure. Times given
/// must not decrease.
class FairQueue {
 public:
  using Id = std::uint32_t;

  explicit FairQueue(double bytes_per_second) : bytes_per_second_(bytes_per_second) {}

  void arrive(double now, Id id, double bytes);
  /// When the next message leaves if none arrives before; infinity when the queue is empty.
  double next_departure() const;
  /// Removes the messages that leave at next_departure() and appends them to `left`.
  void depart(std::vector<Id>& left);

 private:
  void advance(double now);

  using Goal = std::pair<double, Id>;  // leaves when served_ has reached this
  std::priority_queue<Goal, std::vector<Goal>, std::greater<>> goals_;
  double bytes_per_second_;
  double served_ = 0;  // bytes given to a message that has been here from the start
  double updated_ = 0;
};

}  // namespace hsap
