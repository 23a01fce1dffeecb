// Plans of what moves: every need is met once, rounds are free of contention and ascend with the stages, and distflashattn's
// law keeps all ranks busy.
#include "planner/strategies/move_plan.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <tuple>

#include "planner/placement/placement.hpp"
#include "tests/conformance/problems.hpp"

namespace hsap {
namespace {

const AttentionShape kShape{.kind = AttentionKind::softmax,
                            .query_heads = 8,
                            .kv_heads = 2,
                            .qk_dim = 16,
                            .v_dim = 16,
                            .dtype = DType::bf16,
                            .mask = {}};

TEST_CASE("plan of moves: every need is met once, no group sends or receives twice in a round, rounds ascend with stages") {
  const std::uint64_t seed = GENERATE(range(1, 9));
  const bool with_law = GENERATE(false, true);
  CAPTURE(seed, with_law);
  constexpr int kGroups = 9, kStages = 3;
  const Problem problem = test::problem_on(kShape, test::random_offsets(seed, 400), kGroups, 4);
  const Placement groups = place_zigzag(problem.mask, kGroups);
  ExchangeRules rules;
  rules.moving = [](int query_group, int key_group) { return (query_group + key_group) % 3 == 0 ? Moving::q : Moving::kv; };
  rules.stages = kStages;
  if (with_law) rules.stage_of = [](int query_group, int key_group) { return (query_group * 5 + key_group) % kStages; };
  ProgramBuilder builder("test", {1, kGroups}, problem, groups);
  const std::vector<Move> moves = plan_moves(builder, groups, {8, 2}, problem.node_of_rank, rules);

  std::map<std::pair<int, int>, TokenSet> needs;  // keys by (query group, key group)
  for_each_need(problem.mask, groups, [&](const Need& need) { needs[{need.query_group, need.key_group}] = need.keys; });
  REQUIRE(moves.size() == needs.size());
  std::set<std::tuple<int, int, int>> senders, receivers;  // stream, round, group
  std::map<int, std::pair<int, int>> last;                 // (stage, round) by stream
  for (const Move& move : moves) {
    const bool keys_move = move.what == Moving::kv;
    const auto need = needs.find(keys_move ? std::pair{move.to, move.from} : std::pair{move.from, move.to});
    REQUIRE(need != needs.end());
    const TokenSet& keys = need->second;
    CHECK(builder.tokens(move.rows) ==
          (keys_move ? keys : intersection(groups[static_cast<std::size_t>(move.from)], problem.mask.queries_seeing(keys))));
    needs.erase(need);
    CHECK(senders.insert({move.stream, move.round, move.from}).second);
    CHECK(receivers.insert({move.stream, move.round, move.to}).second);
    const bool inside = move.from / 4 == move.to / 4;
    CHECK(move.stream == (inside ? kInsideNode : kBetweenNodes));
    CHECK((move.stage >= 0 && move.stage < kStages));
    const auto [before, is_first] = last.try_emplace(move.stream, move.stage, move.round);
    CHECK((before->second.first <= move.stage && before->second.second <= move.round));
    before->second = {move.stage, move.round};
  }
}

TEST_CASE("a rank's need of a key is met by one holder and covers exactly what it sees and does not hold") {
  const DocumentMask mask({0, 4, 10});
  const std::vector<TokenSet> groups{TokenSet{{0, 3}, {8, 10}}, TokenSet{{3, 8}}};
  std::vector<std::tuple<int, int, TokenSet>> found;
  for_each_need(mask, groups, [&](const Need& need) {
    found.emplace_back(need.query_group, need.key_group, need.keys);
    if (need.query_group == 0) CHECK(queries_of(need, mask, groups) == TokenSet{{8, 10}});
    if (need.query_group == 1) CHECK(queries_of(need, mask, groups) == TokenSet{{3, 4}});
  });
  CHECK(found == std::vector<std::tuple<int, int, TokenSet>>{{0, 1, TokenSet{{4, 8}}}, {1, 0, TokenSet{{0, 3}}}});
}

TEST_CASE("distflashattn: one document takes floor(P/2) + 1 steps, idle in the last only half of an even number of ranks") {
  const int ranks = GENERATE(2, 3, 4, 7, 8, 13, 16);
  CAPTURE(ranks);
  const Problem problem = test::problem_on(kShape, {0, 100 * ranks}, ranks, ranks);
  const Schedule schedule = find_strategy("distflashattn").lower(problem, {1, ranks});
  for (RankId rank = 0; rank < schedule.ranks.size(); ++rank) {
    std::int64_t blocks = 0;
    std::vector<int> exchanges(static_cast<std::size_t>(ranks / 2 + 1), 0);  // [step]; there and home
    for (const Op& op : schedule.ranks[rank].forward) {
      blocks += std::holds_alternative<Attend>(op.body);
      if (const auto* exchange = std::get_if<Exchange>(&op.body)) {
        CHECK((exchange->sends.size() <= 1 && exchange->recvs.size() <= 1));
        ++exchanges[static_cast<std::size_t>(op.step)];
      }
    }
    const bool idles = ranks % 2 == 0 && static_cast<int>(rank) < ranks / 2;
    CHECK(blocks == ranks / 2 + (idles ? 0 : 1));
    CHECK(exchanges[0] == 0);
    CHECK(std::all_of(exchanges.begin() + 1, exchanges.end(), [](int count) { return count == 1 || count == 2; }));
  }
}

}  // namespace
}  // namespace hsap
