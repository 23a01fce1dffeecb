// Tiles of the (query, key) matrix, one for each group, when groups stand in a grid: group (r, c) attends the queries of all of
// row r to the keys of all of column c. Keys go along columns, queries and their outputs along rows.
//
// Rows are the groups of a node where several nodes have several groups: a key crosses to a node once, on its own rail, queries
// and outputs stay inside. Else rows are as long as sends fewest bytes, of the lengths that divide the groups.
//
// A document of L tokens spread evenly over a x b groups (our derivation): each takes in (a - 1) L / ab keys, (b - 1) L / ab
// queries and as many outputs, where keys that go to their queries would be L / 2 on average and L at most.
#pragma once

#include <vector>

#include "planner/strategies/move_plan.hpp"

namespace hsap {

/// Rows that go to a group, or come from it.
struct TileRows {
  int group = 0;
  TokenSetId rows = 0;
};

/// Keys of a column that move in one stage.
struct TileStage {
  TokenSetId keys = 0;         ///< all that come
  std::vector<TileRows> from;  ///< the same by group
  std::vector<TileRows> to;    ///< own keys, by group to which they go
};

/// What one group takes part in.
struct GroupTile {
  TokenSetId visitors = 0;            ///< queries of other groups of its row that see keys of its column
  std::vector<TileRows> visits_from;  ///< the same by group
  TokenSetId leaving = 0;             ///< own queries that visit other groups
  std::vector<TileRows> visits_to;    ///< the same by group: a query may visit several
  std::vector<TileStage> stages;
};

struct TilePlan {
  int row_stream = kInsideNode, column_stream = kInsideNode;  ///< between nodes where some row, or column, spans several
  std::vector<GroupTile> groups;
};

/// First group of each row, and the number of groups. node_of_group ascends. O(groups).
std::vector<int> tile_rows(const std::vector<int>& node_of_group, double bytes_of_query, double bytes_of_key);

/// `groups` = token sets, disjoint; of `rules`, `moving` and `stage_of` are not looked at. Time: groups x (rows + groups of a
/// row) x ranges of a group, and the ranges of what moves.
TilePlan plan_tiles(ProgramBuilder& builder, const std::vector<TokenSet>& groups, const GroupHeads& heads,
                    const std::vector<int>& node_of_group, const ExchangeRules& rules);

}  // namespace hsap
