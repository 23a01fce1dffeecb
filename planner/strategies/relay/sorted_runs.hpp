// Where the elements of each key lie in a list that is sorted by small whole keys: found once, then looked up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace hsap {

template <class Element>
class SortedRuns {
 public:
  /// Of a list that stays where it is. `key(element)` is below `keys` and ascends.
  template <class Key>
  void find(std::span<const Element> elements, std::size_t keys, const Key& key) {
    elements_ = elements;
    first_.assign(keys + 1, 0);
    for (const Element& element : elements) ++first_[key(element) + 1];
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
  }

  /// The elements of one key.
  std::span<const Element> of(std::size_t key) const { return elements_.subspan(first_[key], first_[key + 1] - first_[key]); }

 private:
  std::span<const Element> elements_;
  std::vector<std::uint32_t> first_;  // [key], and the number of elements
};

}  // namespace hsap
