// The exchange in which a row enters a node once: right for any placement, on nodes of any size, and never more bytes between
// nodes than the nodes need.
#include "planner/strategies/relay/relayed_exchange.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "planner/ir/work.hpp"
#include "tests/conformance/oracle.hpp"
#include "tests/mask_rules.hpp"

namespace hsap {
namespace {

constexpr AttentionShape kShape{.kind = AttentionKind::softmax,
                                .query_heads = 4,
                                .kv_heads = 2,
                                .qk_dim = 12,
                                .v_dim = 8,
                                .dtype = DType::bf16,
                                .mask = {}};
constexpr double kRowBytes = 2 * (12 + 8) * 2;  // k and v of a token

/// Documents cut at random, pieces dealt at random; groups may be empty.
std::vector<TokenSet> random_placement(const DocumentMask& mask, int groups, std::mt19937_64& random) {
  std::vector<std::vector<TokenRange>> ranges(static_cast<std::size_t>(groups));
  for (std::size_t d = 0; d < mask.documents(); ++d)
    for (Token begin = mask.document(d).begin, end = mask.document(d).end; begin < end;) {
      const Token piece = std::min<Token>(end - begin, 1 + static_cast<Token>(random() % 40));
      ranges[random() % ranges.size()].push_back({begin, begin + piece});
      begin += piece;
    }
  std::vector<TokenSet> sets;
  for (std::vector<TokenRange>& of_group : ranges) sets.emplace_back(std::move(of_group));
  return sets;
}

/// Groups of one rank, in nodes of 1 to 4.
Problem random_problem(std::uint64_t seed, const MaskRule& rule, std::mt19937_64& random) {
  AttentionShape shape = kShape;
  shape.mask = rule;
  const int ranks = 1 + static_cast<int>(random() % 11);
  Problem problem = test::problem_on(shape, test::random_offsets(seed, 60 + static_cast<Token>(random() % 150)), ranks, 1);
  int node = 0;
  for (std::size_t rank = 0; rank < problem.node_of_rank.size();) {
    for (std::size_t of_node = 1 + random() % 4; of_node > 0 && rank < problem.node_of_rank.size(); --of_node)
      problem.node_of_rank[rank++] = node;
    ++node;
  }
  return problem;
}

Schedule exchange(const Problem& problem, const std::vector<TokenSet>& placement, const RelayedExchangeRules& rules) {
  ProgramBuilder builder("test", {1, problem.ranks}, problem, placement);
  std::vector<std::vector<View>> views;
  for (RankId rank = 0; rank < builder.ranks(); ++rank) views.push_back({boundary_view(builder, rank)});
  relayed_exchange(builder, views, problem.node_of_rank, rules);
  return builder.take();
}

/// The schedule is proved, and gives what the oracle gives, forward and backward, on random values.
void require_equal_to_oracle(const Problem& problem, const Schedule& schedule, std::uint64_t seed) {
  REQUIRE_NOTHROW(verify(schedule, problem.mask));
  const LayerInputs inputs = random_inputs(problem.shape, problem.mask.tokens(), seed);
  CHECK(compare_all(execute_on_cpu(schedule, inputs).results, reference_attention(problem.shape, problem.mask, inputs))
            .largest() < test::kTolerance);
}

TEST_CASE("relayed exchange: equals the oracle for any placement, mask rule, number of stages and size of nodes") {
  const std::uint64_t seed = GENERATE(range(1, 121));
  std::mt19937_64 random(seed);
  const Token near = 1 + static_cast<Token>(random() % 20), far = 1 + static_cast<Token>(random() % 60);
  const MaskRule rule = test::rule_of_kind(static_cast<int>(seed) % test::kRuleKinds, near, far, 1 + near % 5);
  const Problem problem = random_problem(seed, rule, random);
  const std::vector<TokenSet> placement = random_placement(problem.mask, problem.ranks, random);
  RelayedExchangeRules rules;
  rules.stages = 1 + static_cast<int>(random() % 3);
  rules.in_rounds = random() % 3 > 0;
  if (random() % 2 == 0) rules.kv = KvForBackward::again;
  if (random() % 2 == 0) rules.d_kv = DType::fp32;
  rules.least_message_bytes = kRowBytes * static_cast<double>(1 + random() % (random() % 2 == 0 ? 8 : 60));
  CAPTURE(seed, problem.ranks, to_string(rule), rules.stages, rules.in_rounds);

  const Schedule schedule = exchange(problem, placement, rules);
  REQUIRE_NOTHROW(verify(schedule, problem.mask));
  const LayerInputs inputs = random_inputs(problem.shape, problem.mask.tokens(), seed);
  const RelativeErrors errors =
      compare_all(execute_on_cpu(schedule, inputs).results, reference_attention(problem.shape, problem.mask, inputs));
  CAPTURE(errors.o, errors.d_q, errors.d_k, errors.d_v);
  CHECK(errors.largest() < test::kTolerance);
}

TEST_CASE("relayed exchange: in rounds, groups of a node may need different parts of what came by way of several nodes") {
  const std::uint64_t seed = GENERATE(range(1, 31));
  std::mt19937_64 random(seed);
  const Token near = 10 + static_cast<Token>(random() % 60), far = 40 + static_cast<Token>(random() % 160);
  AttentionShape shape = kShape;
  shape.mask = test::rule_of_kind(static_cast<int>(seed) % test::kRuleKinds, near, far, 1 + near % 5);
  Problem problem = test::problem_on(shape, {0, 20, 400}, 24, 1);
  for (std::size_t rank = 0; rank < problem.node_of_rank.size(); ++rank)
    problem.node_of_rank[rank] = static_cast<int>(rank / 3);
  const std::vector<TokenSet> placement = random_placement(problem.mask, problem.ranks, random);
  const RelayedExchangeRules rules{.stages = 4 + static_cast<int>(random() % 12),
                                   .in_rounds = true,
                                   .least_message_bytes = kRowBytes * static_cast<double>(20 + random() % 60)};
  CAPTURE(seed, to_string(shape.mask), rules.stages);
  require_equal_to_oracle(problem, exchange(problem, placement, rules), seed);
}

TEST_CASE("relayed exchange: in rounds, what some nodes need a part of may come from one that needs the same part") {
  // Node 0 holds the beginning of a document and rows near its end, too few to be sent apart; nodes 1 to 3 need the beginning
  // alone.
  Problem problem = test::problem_on(kShape, {0, 200}, 6, 1);
  problem.node_of_rank = {0, 1, 2, 3, 4, 5};
  const std::vector<TokenSet> placement = {TokenSet{{0, 20}, {140, 160}}, TokenSet{{20, 60}},   TokenSet{{60, 100}},
                                           TokenSet{{100, 140}},          TokenSet{{160, 180}}, TokenSet{{180, 200}}};
  const int stages = GENERATE(1, 4, 8);
  CAPTURE(stages);
  const Schedule schedule =
      exchange(problem, placement, {.stages = stages, .in_rounds = true, .least_message_bytes = 30 * kRowBytes});
  REQUIRE_NOTHROW(verify(schedule, problem.mask));
  const LayerInputs inputs = random_inputs(problem.shape, problem.mask.tokens(), 1);
  CHECK(compare_all(execute_on_cpu(schedule, inputs).results, reference_attention(problem.shape, problem.mask, inputs))
            .largest() < test::kTolerance);
}

/// Bytes that come to a node from others in one phase.
double bytes_into(int node, const Schedule& schedule, const Problem& problem, Phase phase) {
  double bytes = 0;
  for (RankId rank = 0; rank < schedule.ranks.size(); ++rank)
    for (const Op& op : ops_of(schedule.ranks[rank], phase))
      if (const auto* exchange = std::get_if<Exchange>(&op.body))
        for (const Message& message : exchange->sends)
          if (problem.node_of_rank[rank] != node && problem.node_of_rank[message.peer] == node)
            bytes += bytes_of(schedule, rank, message);
  return bytes;
}

TEST_CASE("relayed exchange: what a node needs enters it once, and its gradients leave it once") {
  const bool in_rounds = GENERATE(false, true);
  const std::uint64_t seed = GENERATE(range(50, 70));
  std::mt19937_64 random(seed);
  const Problem problem = random_problem(seed, {}, random);
  const std::vector<TokenSet> placement = random_placement(problem.mask, problem.ranks, random);
  CAPTURE(seed, problem.ranks, in_rounds);
  const Schedule schedule =
      exchange(problem, placement, {.stages = 2, .in_rounds = in_rounds, .least_message_bytes = kRowBytes});
  double needed = 0, entered = 0, left = 0;
  for (int node = 0; node <= problem.node_of_rank.back(); ++node) {
    TokenSet held;
    for (std::size_t rank = 0; rank < placement.size(); ++rank)
      if (problem.node_of_rank[rank] == node) held = set_union(held, placement[rank]);
    const double of_node = static_cast<double>(difference(problem.mask.keys_seen_by(held), held).size()) * kRowBytes;
    CHECK(bytes_into(node, schedule, problem, Phase::forward) == of_node);
    needed += of_node;
    entered += bytes_into(node, schedule, problem, Phase::forward);
    left += bytes_into(node, schedule, problem, Phase::backward);
  }
  CHECK(entered == needed);
  CHECK(left == needed);
}

TEST_CASE(
    "relayed exchange: between nodes no group sends or receives twice in a round, and all ways end where rows are needed") {
  const bool in_rounds = GENERATE(false, true);
  const std::uint64_t seed = GENERATE(range(80, 100));
  std::mt19937_64 random(seed);
  const Problem problem = random_problem(seed, {}, random);
  const std::vector<TokenSet> placement = random_placement(problem.mask, problem.ranks, random);
  CAPTURE(seed, problem.ranks, in_rounds);
  ProgramBuilder builder("test", {1, problem.ranks}, problem, placement);
  std::vector<TokenSetId> groups;
  for (RankId rank = 0; rank < builder.ranks(); ++rank) groups.push_back(builder.program(rank).tokens);
  const RelayPlan plan =
      plan_relays(builder, groups, problem.node_of_rank, {.stages = 3, .least_rows = 2, .in_rounds = in_rounds});
  const auto node = [&](int group) { return problem.node_of_rank[static_cast<std::size_t>(group)]; };
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const GroupRelays group = plan.of_group(g);
    for (const Relay& relay : group.in) CHECK((node(relay.from) == node(relay.to)) == (relay.hop != Hop::between));
    TokenSet needed;
    for (const Arrival& arrival : group.arrivals)
      if (arrival.needed) {
        CHECK_FALSE(needed.intersects(builder.tokens(arrival.rows)));
        needed = set_union(needed, builder.tokens(arrival.rows));
      }
    CHECK(needed == difference(problem.mask.keys_seen_by(placement[g]), placement[g]));
    for (const Arrival& arrival : group.arrivals)
      if (!arrival.needed) CHECK_FALSE(needed.intersects(builder.tokens(arrival.rows)));
    for (std::size_t a = 0; a < group.arrivals.size(); ++a) {
      if (group.arrivals[a].needed) continue;
      TokenSet passed;
      for (const Relay& relay : group.out)
        if (relay.source == static_cast<int>(a)) passed = set_union(passed, builder.tokens(relay.rows));
      CHECK(passed == builder.tokens(group.arrivals[a].rows));
    }
  }
}

/// Nodes of four ranks, a short and a long document.
Problem problem_of_fours(std::uint64_t seed, std::mt19937_64& random) {
  AttentionShape shape = kShape;
  shape.mask = test::rule_of_kind(static_cast<int>(seed) % test::kRuleKinds, 10 + static_cast<Token>(random() % 60),
                                  40 + static_cast<Token>(random() % 160), 3);
  Problem problem = test::problem_on(shape, {0, 60, 460}, 12, 1);
  for (std::size_t rank = 0; rank < problem.node_of_rank.size(); ++rank)
    problem.node_of_rank[rank] = static_cast<int>(rank / 4);
  return problem;
}

TEST_CASE("relayed exchange: in rounds, what leaves by another group's NIC comes there first, the rest inside in parts") {
  const std::uint64_t seed = GENERATE(range(1, 21));
  std::mt19937_64 random(seed);
  const Problem problem = problem_of_fours(seed, random);
  const std::vector<TokenSet> placement = random_placement(problem.mask, problem.ranks, random);
  CAPTURE(seed, to_string(problem.shape.mask));
  ProgramBuilder builder("test", {1, problem.ranks}, problem, placement);
  std::vector<TokenSetId> groups;
  for (RankId rank = 0; rank < builder.ranks(); ++rank) groups.push_back(builder.program(rank).tokens);
  const RelayPlan plan = plan_relays(builder, groups, problem.node_of_rank, {.stages = 4, .least_rows = 4, .in_rounds = true});
  std::vector<Token> inside(static_cast<std::size_t>(plan.stages));
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const GroupRelays group = plan.of_group(g);
    TokenSet leaving, leaves;
    for (const Relay& relay : group.in) {
      const bool comes_inside = plan.is_inside[static_cast<std::size_t>(relay.stage)];
      CHECK(comes_inside == (relay.hop == Hop::inside));
      if (comes_inside) inside[static_cast<std::size_t>(relay.stage)] += builder.tokens(relay.rows).size();
      if (relay.stage == 0) leaving = set_union(leaving, builder.tokens(relay.rows));
    }
    for (const Relay& relay : group.out) {
      if (relay.source == Relay::kOwn) continue;
      const Arrival& source = group.arrivals[static_cast<std::size_t>(relay.source)];
      CHECK((source.stage == 0 || !plan.is_inside[static_cast<std::size_t>(source.stage)]));
      if (source.stage > 0) continue;
      CHECK(relay.hop == Hop::between);
      CHECK(builder.tokens(source.entered) == builder.tokens(source.rows));  // all gradients come back here
      leaves = set_union(leaves, builder.tokens(relay.rows));
    }
    CHECK(leaves == leaving);
  }
  CHECK(inside[0] > 0);
  for (const std::size_t later : {3u, 5u, 7u}) {  // what is too short for parts comes in the first of them
    CHECK(inside[later] > 0);
    CHECK(inside[later] <= inside[1]);
  }
}

TEST_CASE("relayed exchange: in rounds, gradients come home by the NICs by which rows left, whoever else needed the rows") {
  const std::uint64_t seed = GENERATE(range(1, 21));
  std::mt19937_64 random(seed);
  const Problem problem = problem_of_fours(seed, random);
  const std::vector<TokenSet> placement = random_placement(problem.mask, problem.ranks, random);
  RelayedExchangeRules rules{.stages = 1 + static_cast<int>(random() % 6), .in_rounds = true};
  if (random() % 2 == 0) rules.kv = KvForBackward::again;
  if (random() % 2 == 0) rules.d_kv = DType::fp32;
  rules.least_message_bytes = kRowBytes * static_cast<double>(1 + random() % 12);
  CAPTURE(seed, to_string(problem.shape.mask), rules.stages);
  require_equal_to_oracle(problem, exchange(problem, placement, rules), seed);
}

TEST_CASE("relayed exchange: what one rank holds leaves its node, and enters the next, by all NICs") {
  // Two nodes of four ranks; rank 1 and rank 6 hold the halves of a document, the others a short one each.
  Problem problem = test::problem_on(kShape, {0, 800, 810, 820, 830, 840, 850, 860}, 8, 1);
  problem.node_of_rank = {0, 0, 0, 0, 1, 1, 1, 1};
  std::vector<TokenSet> placement;
  Token next = 800;
  for (int rank = 0; rank < 8; ++rank) {
    if (rank == 1) placement.push_back(TokenSet{{0, 400}});
    if (rank == 6) placement.push_back(TokenSet{{400, 800}});
    if (rank != 1 && rank != 6) placement.push_back(TokenSet{{next, next + 10}}), next += 10;
  }
  const Schedule schedule = exchange(problem, placement, {.least_message_bytes = 20 * kRowBytes});
  REQUIRE_NOTHROW(verify(schedule, problem.mask));
  for (const Phase phase : {Phase::forward, Phase::backward}) {
    std::vector<double> out(8), in(8);
    for (RankId rank = 0; rank < 8; ++rank)
      for (const Op& op : ops_of(schedule.ranks[rank], phase))
        if (const auto* exchange = std::get_if<Exchange>(&op.body))
          for (const Message& message : exchange->sends)
            if (problem.node_of_rank[rank] != problem.node_of_rank[message.peer]) {
              out[rank] += bytes_of(schedule, rank, message);
              in[message.peer] += bytes_of(schedule, rank, message);
            }
    const std::size_t from = phase == Phase::forward ? 0 : 4, to = 4 - from;
    for (std::size_t rank = 0; rank < 4; ++rank) {
      CHECK(out[from + rank] == 100 * kRowBytes);
      CHECK(in[to + rank] == 100 * kRowBytes);
    }
  }
}

}  // namespace
}  // namespace hsap
