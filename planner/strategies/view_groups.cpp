#include "planner/strategies/view_groups.hpp"

namespace hsap {

ViewGroups view_groups(const ProgramBuilder& builder, const std::vector<std::vector<View>>& views,
                       const std::vector<int>& node_of_rank) {
  ViewGroups result;
  result.lanes.resize(views.front().size());
  for (const std::vector<View>& group : views) {
    result.tokens.push_back(builder.tokens(group.front().tokens));
    result.node.push_back(node_of_rank[group.front().rank]);
    for (std::size_t member = 0; member < group.size(); ++member) result.lanes[member].push_back(group[member]);
  }
  for (const View& member : views.front()) {
    result.heads.query_heads += member.query_heads.size();
    result.heads.kv_heads += member.kv_heads.size();
  }
  return result;
}

}  // namespace hsap
