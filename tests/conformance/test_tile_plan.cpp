// Tiles: how groups stand in a grid, and what comes to whom there.
#include "planner/strategies/tile_plan.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <numeric>

#include "planner/placement/placement.hpp"
#include "tests/conformance/problems.hpp"

namespace hsap {
namespace {

using Rows = std::vector<int>;

TEST_CASE("tiles: a row is a node where several nodes have several groups") {
  CHECK(tile_rows({0, 0, 0, 1, 1, 1}, 4, 1) == Rows{0, 3, 6});
  CHECK(tile_rows({0, 0, 0, 1, 2, 2}, 1, 4) == Rows{0, 3, 4, 6});
}

TEST_CASE("tiles: in one node, or where each group has its own, rows are as long as sends fewest bytes") {
  const std::vector<int> one_node(16, 0);
  std::vector<int> own_nodes(16);
  std::iota(own_nodes.begin(), own_nodes.end(), 0);
  for (const std::vector<int>& nodes : {one_node, own_nodes}) {
    CHECK(tile_rows(nodes, 1, 1) == Rows{0, 4, 8, 12, 16});
    CHECK(tile_rows(nodes, 4, 1) == Rows{0, 2, 4, 6, 8, 10, 12, 14, 16});  // queries cost more: short rows
    CHECK(tile_rows(nodes, 1, 100) == Rows{0, 16});
    CHECK(tile_rows(nodes, 100, 1).size() == 17);
  }
  CHECK(tile_rows(std::vector<int>(7, 0), 1, 1) == Rows{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(tile_rows({0}, 1, 1) == Rows{0, 1});
}

TEST_CASE("tiles: every query comes to a group with each key that it sees, once, and no key or query comes twice") {
  const std::uint64_t seed = GENERATE(range(1, 9));
  const auto [groups, per_node, stages] = GENERATE(std::tuple(8, 4, 1), std::tuple(9, 4, 3), std::tuple(12, 12, 2));
  const AttentionShape shape{.kind = AttentionKind::softmax,
                             .query_heads = 4,
                             .kv_heads = 4,
                             .qk_dim = 16,
                             .v_dim = 16,
                             .dtype = DType::bf16,
                             .mask = {}};
  CAPTURE(seed, groups, per_node);
  const Problem problem = test::problem_on(shape, test::random_offsets(seed, 300), groups, per_node);
  const Placement placement = place_zigzag(problem.mask, groups);
  ProgramBuilder builder("test", {1, groups}, problem, placement);
  ExchangeRules rules;
  rules.stages = stages;
  const TilePlan plan = plan_tiles(builder, placement, {4, 4}, problem.node_of_rank, rules);

  std::map<std::pair<Token, Token>, int> met;  // times, by query and key
  for (std::size_t g = 0; g < placement.size(); ++g) {
    const GroupTile& tile = plan.groups[g];
    TokenSet keys = placement[g], queries = placement[g];
    for (const TileStage& stage : tile.stages)
      for (const TileRows& from : stage.from) {
        CHECK_FALSE(builder.tokens(from.rows).intersects(keys));
        keys = set_union(keys, builder.tokens(from.rows));
      }
    for (const TileRows& from : tile.visits_from) {
      CHECK_FALSE(builder.tokens(from.rows).intersects(queries));
      queries = set_union(queries, builder.tokens(from.rows));
    }
    for (const TokenRange& of_queries : queries.ranges())
      for (Token query = of_queries.begin; query < of_queries.end; ++query) {
        const TokenSet seen = intersection(keys, problem.mask.keys_seen_by(TokenSet{{query, query + 1}}));
        for (const TokenRange& of_keys : seen.ranges())
          for (Token key = of_keys.begin; key < of_keys.end; ++key) ++met[{query, key}];
      }
  }
  CHECK(static_cast<std::int64_t>(met.size()) == problem.mask.pairs());
  for (const auto& [pair, times] : met) {
    CAPTURE(pair.first, pair.second);
    REQUIRE(times == 1);
  }
}

}  // namespace
}  // namespace hsap
