#include <string>

#include "planner/ir/errors.hpp"
#include "planner/placement/placement.hpp"

namespace hsap {

Placement place_stripes(const DocumentMask& mask, int groups) {
  if (groups < 1)
    throw InvalidInput("striped placement: the number of groups is " + std::to_string(groups) + ", expected at least 1");
  Placement placement;
  for (Token group = 0; group < groups; ++group) {
    std::vector<TokenRange> tokens;
    for (Token token = group; token < mask.tokens(); token += groups) tokens.push_back({token, token + 1});
    placement.emplace_back(std::move(tokens));
  }
  return placement;
}

}  // namespace hsap
