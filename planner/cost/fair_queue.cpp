#include "planner/cost/fair_queue.hpp"

#include <functional>

namespace hsap {

void FairQueue::arrive(double now, Id id, double bytes) {
  advance(now);
  goals_.emplace(served_ + bytes, id);
}

double FairQueue::next_departure() const {
  if (goals_.empty()) return std::numeric_limits<double>::infinity();
  return updated_ + (goals_.top().first - served_) * static_cast<double>(goals_.size()) / bytes_per_second_;
}

void FairQueue::depart(std::vector<Id>& left) {
  // Goals this close are equal but for rounding: messages of one size that arrived together leave together.
  constexpr double kRounding = 1e-12;
  updated_ = next_departure();
  served_ = goals_.top().first;
  while (!goals_.empty() && goals_.top().first <= served_ * (1 + kRounding)) {
    left.push_back(goals_.top().second);
    goals_.pop();
  }
}

void FairQueue::advance(double now) {
  if (!goals_.empty()) served_ += (now - updated_) * bytes_per_second_ / static_cast<double>(goals_.size());
  updated_ = now;
}

}  // namespace hsap
