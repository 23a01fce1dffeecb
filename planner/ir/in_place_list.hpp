// A list that needs no memory of its own while it is short: a schedule has very many lists of one or two elements.
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstddef>

namespace hsap {

/// A list whose first `Size` elements are kept in place, without an allocation of their own. Its move throws nothing, which
/// boost does not promise: without that, a std::vector of what holds such lists would copy them whenever it grows.
template <class Element, std::size_t Size>
struct InPlaceList : boost::container::small_vector<Element, Size> {
  using boost::container::small_vector<Element, Size>::small_vector;
  InPlaceList() = default;
  InPlaceList(const InPlaceList&) = default;
  InPlaceList(InPlaceList&&) noexcept = default;
  InPlaceList& operator=(const InPlaceList&) = default;
  InPlaceList& operator=(InPlaceList&&) noexcept = default;
};

}  // namespace hsap
