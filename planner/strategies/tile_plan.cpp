#include "planner/strategies/tile_plan.hpp"

#include <algorithm>
#include <limits>

namespace hsap {

namespace {

/// Of the lengths of rows that divide the groups, the one that sends fewest bytes.
int cheapest_row(int groups, double bytes_of_query, double bytes_of_key) {
  int best = 1;
  double fewest = std::numeric_limits<double>::infinity();
  for (int row = 1; row <= groups; ++row) {
    if (groups % row != 0) continue;
    const double bytes = (row - 1) * bytes_of_query + (groups / row - 1) * bytes_of_key;
    if (bytes < fewest) fewest = bytes, best = row;
  }
  return best;
}

/// Adds the ranges of a set.
void add(std::vector<TokenRange>& ranges, const TokenSet& set) {
  ranges.insert(ranges.end(), set.ranges().begin(), set.ranges().end());
}

class Tiles {
 public:
  Tiles(ProgramBuilder& builder, const std::vector<TokenSet>& groups, std::vector<int> first_of_row, int stages)
      : builder_(builder), groups_(groups), first_(std::move(first_of_row)), stages_(stages), tiles_(groups.size()) {
    for (GroupTile& tile : tiles_) tile.stages.resize(static_cast<std::size_t>(stages));
  }

  std::vector<GroupTile> plan() {
    move_keys();
    for (int row = 0; row < rows(); ++row)
      for (int group = first(row); group < first(row + 1); ++group) gather(row, group);
    for (std::size_t g = 0; g < tiles_.size(); ++g) {
      std::vector<TokenRange> leaving;
      for (const TileRows& visit : tiles_[g].visits_to) add(leaving, builder_.tokens(visit.rows));
      tiles_[g].leaving = builder_.intern(TokenSet(std::move(leaving)));
    }
    return std::move(tiles_);
  }

 private:
  int rows() const { return static_cast<int>(first_.size()) - 1; }
  int first(int row) const { return first_[static_cast<std::size_t>(row)]; }
  GroupTile& tile(int group) { return tiles_[static_cast<std::size_t>(group)]; }
  const TokenSet& tokens(int group) const { return groups_[static_cast<std::size_t>(group)]; }

  /// Keys of other rows come to the group in their column; those of the rows before it, counted in a circle, first.
  void move_keys() {
    std::vector<TokenSet> of_row;
    for (int row = 0; row < rows(); ++row) {
      std::vector<TokenRange> ranges;
      for (int group = first(row); group < first(row + 1); ++group) add(ranges, tokens(group));
      of_row.emplace_back(std::move(ranges));
    }
    for_each_need(builder_.mask(), of_row, [&](const Need& need) {
      const int length = first(need.query_group + 1) - first(need.query_group);
      const int distance = (need.query_group - need.key_group + rows()) % rows();
      const auto stage = static_cast<std::size_t>((distance - 1) * stages_ / (rows() - 1));
      for (int from = first(need.key_group); from < first(need.key_group + 1); ++from) {
        const TokenSet keys = intersection(tokens(from), need.keys);
        if (keys.empty()) continue;
        const int to = first(need.query_group) + (from - first(need.key_group)) % length;
        const TokenSetId moving = builder_.intern(keys);
        tile(to).stages[stage].from.push_back({from, moving});
        tile(from).stages[stage].to.push_back({to, moving});
      }
    });
  }

  /// What comes to a group: all keys of its column, stage by stage, and the queries of its row that see some of them.
  void gather(int row, int group) {
    std::vector<TokenRange> all;
    add(all, tokens(group));
    for (TileStage& stage : tile(group).stages) {
      std::vector<TokenRange> come;
      for (const TileRows& keys : stage.from) add(come, builder_.tokens(keys.rows));
      all.insert(all.end(), come.begin(), come.end());
      stage.keys = builder_.intern(TokenSet(std::move(come)));
    }
    const TokenSet seeing = builder_.mask().queries_seeing(TokenSet(std::move(all)));
    std::vector<TokenRange> visitors;
    for (int from = first(row); from < first(row + 1); ++from) {
      if (from == group) continue;
      const TokenSet visiting = intersection(tokens(from), seeing);
      if (visiting.empty()) continue;
      add(visitors, visiting);
      const TokenSetId moving = builder_.intern(visiting);
      tile(group).visits_from.push_back({from, moving});
      tile(from).visits_to.push_back({group, moving});
    }
    tile(group).visitors = builder_.intern(TokenSet(std::move(visitors)));
  }

  ProgramBuilder& builder_;
  const std::vector<TokenSet>& groups_;
  const std::vector<int> first_;  // [row], and the number of groups
  const int stages_;
  std::vector<GroupTile> tiles_;
};

}  // namespace

std::vector<int> tile_rows(const std::vector<int>& node_of_group, double bytes_of_query, double bytes_of_key) {
  const auto groups = static_cast<int>(node_of_group.size());
  std::vector<int> first;
  for (int group = 0; group < groups; ++group) {
    const auto g = static_cast<std::size_t>(group);
    if (group == 0 || node_of_group[g] != node_of_group[g - 1]) first.push_back(group);
  }
  const auto nodes = static_cast<int>(first.size());
  if (nodes == 1 || nodes == groups) {
    first.clear();
    const int length = cheapest_row(groups, bytes_of_query, bytes_of_key);
    for (int group = 0; group < groups; group += length) first.push_back(group);
  }
  first.push_back(groups);
  return first;
}

TilePlan plan_tiles(ProgramBuilder& builder, const std::vector<TokenSet>& groups, const GroupHeads& heads,
                    const std::vector<int>& node_of_group, const ExchangeRules& rules) {
  const AttentionShape& shape = builder.shape();
  std::vector<int> first =
      tile_rows(node_of_group, bytes_of_moving_q(shape, heads, rules), bytes_of_moving_kv(shape, heads, rules));
  TilePlan plan;
  for (std::size_t row = 0; row + 1 < first.size(); ++row) {
    const auto begin = static_cast<std::size_t>(first[row]), end = static_cast<std::size_t>(first[row + 1]);
    if (node_of_group[begin] != node_of_group[end - 1]) plan.row_stream = kBetweenNodes;
  }
  if (node_of_group.front() != node_of_group.back()) plan.column_stream = kBetweenNodes;
  plan.groups = Tiles(builder, groups, std::move(first), rules.stages).plan();
  return plan;
}

}  // namespace hsap
