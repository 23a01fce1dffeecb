#include "planner/placement/placement.hpp"

namespace hsap {

Placement place_contiguous(const DocumentMask& mask, int groups) {
  Placement placement;
  for (Token group = 0; group < groups; ++group)
    placement.push_back(TokenSet{{mask.tokens() * group / groups, mask.tokens() * (group + 1) / groups}});
  return placement;
}

}  // namespace hsap
