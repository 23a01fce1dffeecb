// Views of the groups of an exchange, in the forms that its plan and its programs need.
#pragma once

#include <vector>

#include "planner/strategies/inner_attention.hpp"
#include "planner/strategies/move_plan.hpp"

namespace hsap {

struct ViewGroups {
  std::vector<TokenSet> tokens;          ///< [group]
  std::vector<int> node;                 ///< [group]
  GroupHeads heads;                      ///< of the members of a group together
  std::vector<std::vector<View>> lanes;  ///< [member][group] counterparts, which hold the same heads
};

/// views[group][member], node_of_rank[rank].
ViewGroups view_groups(const ProgramBuilder& builder, const std::vector<std::vector<View>>& views,
                       const std::vector<int>& node_of_rank);

}  // namespace hsap
