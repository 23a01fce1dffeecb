// Lists sorted by small whole keys, and where the elements of each key lie in them: found once, then looked up.
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
  /// How many have lesser keys. @pre key <= keys
  std::size_t before(std::size_t key) const { return first_[key]; }

 private:
  template <class Item, class Key>
  friend SortedRuns<Item> sort_by(const std::vector<Item>& items, std::size_t keys, const Key& key, std::vector<Item>& sorted);

  std::span<const Element> elements_;
  std::vector<std::uint32_t> first_;  // [key], and the number of elements
};

/// Puts items into `sorted` by key(item), which is below `keys`; equal ones stay in their order. Valid as long as `sorted`
/// stays where it is.
template <class Item, class Key>
SortedRuns<Item> sort_by(const std::vector<Item>& items, std::size_t keys, const Key& key, std::vector<Item>& sorted) {
  SortedRuns<Item> runs;
  std::vector<std::uint32_t>& first = runs.first_;
  first.assign(keys + 2, 0);  // of each key, two places later: then it moves to where the key's items end
  for (const Item& item : items) ++first[key(item) + 2];
  std::partial_sum(first.begin(), first.end(), first.begin());
  sorted.resize(items.size());
  for (const Item& item : items) sorted[first[key(item) + 1]++] = item;
  first.pop_back();
  runs.elements_ = sorted;
  return runs;
}

}  // namespace hsap
