// Which pairs of groups meet at the keys' place instead of the queries': where queries are cheaper to move, or where that takes
// work off a group that has too much. Computation follows: balance without another placement (the idea of DCP, SOSP 2025, and
// of DistFlashAttn's helpers, arXiv 2310.03294; the greedy is ours).
#pragma once

#include <functional>
#include <vector>

#include "planner/strategies/move_plan.hpp"

namespace hsap {

/// For ExchangeRules::moving: queries move where that sends fewer bytes, or takes work off a group that has more than
/// (1 + tolerance) times the mean of pairs, and the keys' group keeps within that. Of the busiest group first, and there what
/// saves most bytes, then to the least busy group. `heads` of a group's members together. Time: that of for_each_need(), and
/// sorting the needs.
std::function<Moving(int query_group, int key_group)> balancing_moves(const Problem& problem,
                                                                      const std::vector<TokenSet>& groups,
                                                                      const GroupHeads& heads, const ExchangeRules& rules,
                                                                      double tolerance);

}  // namespace hsap
