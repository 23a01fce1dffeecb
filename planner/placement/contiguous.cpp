#include <string>

#include "planner/ir/errors.hpp"
#include "planner/placement/placement.hpp"

namespace hsap {

Placement place_contiguous(const DocumentMask& mask, int groups) {
  if (groups < 1)
    throw InvalidInput("contiguous placement: the number of groups is " + std::to_string(groups) + ", expected at least 1");
  // i T / n without the product, which may not fit: T = q n + r, so i T / n = i q + i r / n
  const Token quotient = mask.tokens() / groups;
  const Token remainder = mask.tokens() % groups;
  const auto begin_of = [&](Token group) { return group * quotient + group * remainder / groups; };
  Placement placement;
  placement.reserve(static_cast<std::size_t>(groups));
  for (Token group = 0; group < groups; ++group) placement.push_back({{begin_of(group), begin_of(group + 1)}});
  return placement;
}

}  // namespace hsap
