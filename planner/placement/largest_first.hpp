// Bins by how much of something each has.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace hsap {

/// Bins, the one with the largest amount first; of equal ones the last. A heap that can be emptied and used again without new
/// memory, and whose top can be replaced in one step: std::priority_queue can do neither.
template <class Amount>
class LargestFirst {
 public:
  struct Entry {
    Amount amount;
    std::size_t bin;
  };

  /// `most`: entries that there will be at once, for which memory is taken now.
  explicit LargestFirst(std::size_t most) { heap_.reserve(most); }

  bool empty() const { return heap_.empty(); }
  const Entry& top() const { return heap_.front(); }
  void clear() { heap_.clear(); }
  void push(const Entry& entry) {
    heap_.push_back(entry);
    std::push_heap(heap_.begin(), heap_.end(), less);
  }
  /// Takes the top out. @pre not empty()
  Entry pop() {
    const Entry top = heap_.front();
    const Entry last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) replace_top(last);
    return top;
  }
  /// Takes the top out and puts `entry` in. @pre not empty()
  void replace_top(const Entry& entry) {
    const std::size_t entries = heap_.size();
    std::size_t place = 0;
    for (std::size_t child = 1; child < entries; child = 2 * place + 1) {
      if (child + 1 < entries) child += static_cast<std::size_t>(less(heap_[child], heap_[child + 1]));
      if (!less(entry, heap_[child])) break;
      heap_[place] = heap_[child];
      place = child;
    }
    heap_[place] = entry;
  }

 private:
  /// Without branches, which nobody could predict.
  static bool less(const Entry& a, const Entry& b) {
    return (a.amount < b.amount) | ((a.amount == b.amount) & (a.bin < b.bin));
  }
  std::vector<Entry> heap_;
};

}  // namespace hsap
