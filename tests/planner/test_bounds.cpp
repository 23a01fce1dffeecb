// The lower bounds of planner/placement/bounds: values worked out by hand, and that no plan of small batches, all of which are
// tried, beats one.
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>
#include <random>

#include "planner/ir/errors.hpp"
#include "planner/placement/bounds/any_plan_volume.hpp"
#include "planner/placement/bounds/compute_bound.hpp"
#include "planner/placement/bounds/coupled_volume.hpp"
#include "planner/placement/bounds/layer_bound.hpp"
#include "planner/placement/bounds/memory.hpp"
#include "planner/placement/bounds/row_atomic_volume.hpp"
#include "tests/planner/random_sets.hpp"

namespace hsap {
namespace {

using Catch::Matchers::Contains;

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// --- compute ----------------------------------------------------------------------------------------------------------

TEST_CASE("compute bound: equal ranks share pairs and tokens") {
  CHECK(compute_bound_seconds(55, 10, RankSpeed{2, 3}, 4) == Approx((55 * 2 + 10 * 3) / 4.0));
  CHECK(compute_bound_seconds(55, 10, std::vector<RankSpeed>(4, {2, 3})) == Approx((55 * 2 + 10 * 3) / 4.0));
}

TEST_CASE("compute bound: ranks of unequal speed share the work by their speeds") {
  CHECK(compute_bound_seconds(55, 10, {{2, 3}, {1, 1.5}, {2, 3}}) == Approx((55 * 2 + 10 * 3) / (1.0 + 2.0 + 1.0)));
  CHECK(compute_bound_seconds(40, 0, {{1, 0}, {0.25, 0}}) == Approx(40 / (1.0 + 4.0)));
}

TEST_CASE("compute bound: a rank that is slow at tokens does pairs, and tokens only when that is quicker") {
  // First: 6 tokens on one, 6 pairs on the other. Second: t tokens on one; 8 - t tokens and 4 pairs on the other take as long.
  CHECK(compute_bound_seconds(6, 6, {{1, 1}, {1, 4}}) == Approx(6));
  CHECK(compute_bound_seconds(4, 8, {{1, 1}, {1, 4}}) == Approx(36 / 5.0));
}

// --- volume by hand ---------------------------------------------------------------------------------------------------

TEST_CASE("row-atomic volume: a document of ten tokens, four to a rank, is cut at six and two") {
  const RankCaps caps{.tokens = 4};
  CHECK(row_atomic_volume(10.0, caps) == Approx(6 + 2));
  CHECK(cut_positions({10, 4, 1}, caps) == std::vector<double>{6, 2});
  CHECK(row_atomic_volume({10, 4, 1, 10}, caps) == Approx(2 * 8));
  CHECK(most_received_by_a_rank({10, 4, 1}, caps) == Approx(6));
}

TEST_CASE("row-atomic volume: a document of three rows, three pairs to a rank, is cut before its last row") {
  CHECK(row_atomic_volume(3.0, RankCaps{.cost = 3}) == Approx(2));
  // A token worth half a pair: rows cost 1.5, 2.5, 3.5.
  CHECK(row_atomic_volume(3.0, RankCaps{.cost = 3.5, .pairs_per_token = 0.5}) == Approx(2 + (std::sqrt(1 + 2 * 0.5) - 1)));
}

TEST_CASE("row-atomic volume: where both caps bind the later cut counts") {
  // 55 pairs: half of them lie below 6.93, where six tokens would be left; then only the token cap cuts, at two.
  const RankCaps caps{.tokens = 4, .cost = 27.5};
  CHECK(row_atomic_volume(10.0, caps) == Approx((std::sqrt(1 + 8 * 27.5) - 1) / 2 + 2));
}

TEST_CASE("row-atomic volume: cuts by equal cost lie at L sqrt(1 - k/n), by equal tokens at L (1 - k/n)") {
  const double length = 1'000'000;
  const double cost = length * (length + 1) / 2;
  double by_cost = 0;
  for (int k = 1; k < 64; ++k) by_cost += length * std::sqrt(1 - k / 64.0);
  CHECK(row_atomic_volume(length, RankCaps{.cost = cost / 64}) == Approx(by_cost).epsilon(1e-4));
  CHECK(row_atomic_volume(length, RankCaps{.tokens = length / 64}) == Approx(length * 63 / 2));
}

TEST_CASE("row-atomic volume: is the sum of the cut positions, whichever cap binds") {
  const unsigned seed = GENERATE(1u, 2u, 3u);
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 200; ++i) {
    const std::vector<Token> lengths{test::draw(random, 1, 100'000), test::draw(random, 1, 1000)};
    const RankCaps caps = rank_caps(lengths, static_cast<int>(test::draw(random, 1, 100)),
                                    1 + 0.01 * double(test::draw(random, 0, 99)), 0.01, double(test::draw(random, 0, 30'000)));
    const std::vector<double> positions = cut_positions(lengths, caps);
    CHECK(std::is_sorted(positions.rbegin(), positions.rend()));
    CHECK(row_atomic_volume(lengths, caps) == Approx(std::accumulate(positions.begin(), positions.end(), 0.0)));
  }
}

TEST_CASE("coupled volume: one long document among twelve of one token on four ranks") {
  // 20 tokens and 48 pairs: 5 tokens and 12 pairs to a rank. Cost alone cuts the long one at 6.45 and 4.42. But a rank without
  // one of its rows above x would hold cheap rows: G = 0 such ranks up to x = 1.9, where rows cost 2.4 = 12 / 5 as is needed on
  // average; then the rows [3.8 - x, x), which cost 2.4 on average; from 2.8 on also the upper part u of the 13 first rows.
  std::vector<Token> lengths(12, 1);
  lengths.push_back(8);
  const RankCaps caps = rank_caps(lengths, 4, 1, 0, 0);
  CHECK(caps.tokens == 5);
  CHECK(caps.cost == 12);
  const auto living_below = [](double x) {
    if (x <= 1.9) return 0.0;
    if (x <= 2.8) return (2 * x - 3.8) / 5;
    const double u = std::sqrt(0.81 + (x - 1) * (x - 2.8) / 13) - 0.9;
    return (x - 1 + 13 * u) / 5;
  };
  const double second = (std::sqrt(1 + 8 * 24.0) - 1) / 2;
  const double third = (std::sqrt(1 + 8 * 12.0) - 1) / 2;
  double reach = 0;
  constexpr int kSteps = 100'000;
  for (int i = 0; i < kSteps; ++i) {
    const double x = 8 * (i + 0.5) / kSteps;
    const double pieces = (x < 1 ? 12 : 0) + 1 + (x < second ? 1 : 0) + (x < third ? 1 : 0);
    reach += 8.0 / kSteps * std::max(pieces, 4 - living_below(x));
  }
  CHECK(row_atomic_volume(lengths, caps) == Approx(second + third));
  CHECK(coupled_volume(lengths, 4, caps, 20'000) == Approx(reach - 20).epsilon(1e-3));
  CHECK(reach - 20 > 1.1 * (second + third));
  CHECK(coupled_volume(lengths, 4, caps) < coupled_volume(lengths, 4, caps, 20'000));  // a lower sum
}

TEST_CASE("coupled volume: equal tokens and equal cost cost more than either, but not more than zigzag") {
  const std::vector<Token> lengths{65'536};
  const RankCaps caps = rank_caps(lengths, 8, 1, 0.001, 0);
  const double zigzag = 0.75 * 7 * 65'536;
  CHECK(row_atomic_volume(lengths, caps) < 0.92 * zigzag);
  CHECK(coupled_volume(lengths, 8, caps) > 0.93 * zigzag);
  CHECK(coupled_volume(lengths, 8, caps) <= zigzag);
}

TEST_CASE("coupled volume: without a token cap it is the row-atomic volume") {
  const std::vector<Token> lengths{1000, 20, 300};
  const RankCaps caps = rank_caps(lengths, 4, kInfinite, 0.01, 10);
  CHECK(coupled_volume(lengths, 4, caps) == row_atomic_volume(lengths, caps));
}

TEST_CASE("any-plan volume: four rows, two to a rank") {
  // All 10 pairs on one rank: 2 (i + j) + i j = 10 with i = j = v / 2 gives v = sqrt(56) - 4. Six pairs are owned for nothing.
  CHECK(any_plan_volume({4}, {.tokens = 2}, {}) == Approx(0.4 * (std::sqrt(56) - 4)));
  CHECK(any_plan_volume({4, 2, 1}, {.tokens = 2}, {}) == any_plan_volume({4}, {.tokens = 2}, {}));
  CHECK(any_plan_volume({4}, {.tokens = 4}, {}) == 0);
}

TEST_CASE("any-plan volume: falls with more kv heads, and with dearer queries no further than keys alone allow") {
  const RankCaps caps = rank_caps({65'536}, 64, 1.25, 0.01, 0);
  const double one_head = any_plan_volume({65'536}, caps, {4, 1});
  const double eight_heads = any_plan_volume({65'536}, caps, {4, 8});
  CHECK(eight_heads < 0.5 * one_head);
  CHECK(one_head < row_atomic_volume({65'536}, caps));
  CHECK(any_plan_volume({65'536}, caps, {1, 8}) < eight_heads);
}

// --- volume against all plans -----------------------------------------------------------------------------------------

/// What a plan of whole rows receives and holds. `rank_of[i]` holds row i of the pack.
struct SmallPlan {
  double received = 0;
  double into_nodes = 0;
  double most_received = 0;
  RankCaps caps{.tokens = 0, .cost = 0};
};
SmallPlan measure(const std::vector<Token>& lengths, const std::vector<int>& rank_of, int ranks, double pairs_per_token) {
  constexpr int kPerNode = 2;
  SmallPlan plan;
  plan.caps.pairs_per_token = pairs_per_token;
  std::vector<double> received(static_cast<std::size_t>(ranks), 0);
  for (int rank = 0; rank < ranks; ++rank) {
    double tokens = 0;
    double cost = 0;
    std::size_t first = 0;
    for (const Token length : lengths) {
      double reach = 0;
      double held = 0;
      double node_reach = 0;
      double node_held = 0;
      for (Token row = 0; row < length; ++row) {
        const int holder = rank_of[first + static_cast<std::size_t>(row)];
        if (holder / kPerNode == rank / kPerNode) {
          node_reach = static_cast<double>(row + 1);
          node_held += 1;
        }
        if (holder != rank) continue;
        reach = static_cast<double>(row + 1);
        held += 1;
        cost += reach + pairs_per_token;
      }
      tokens += held;
      received[static_cast<std::size_t>(rank)] += reach - held;
      if (rank % kPerNode == 0) plan.into_nodes += node_reach - node_held;
      first += static_cast<std::size_t>(length);
    }
    plan.caps.tokens = std::max(plan.caps.tokens, tokens);
    plan.caps.cost = std::max(plan.caps.cost, cost);
  }
  plan.received = std::accumulate(received.begin(), received.end(), 0.0);
  plan.most_received = *std::max_element(received.begin(), received.end());
  return plan;
}

TEST_CASE("volume bounds: of all plans of a few small batches none receives less than the bounds for what it holds") {
  struct Batch {
    std::vector<Token> lengths;
    int ranks;
  };
  const auto batch =
      GENERATE(Batch{{8}, 3}, Batch{{5, 3}, 3}, Batch{{7, 1, 1}, 2}, Batch{{4, 2}, 4}, Batch{{3, 1, 1, 1, 1}, 4});
  const double pairs_per_token = GENERATE(0.0, 2.5);
  CAPTURE(batch.lengths, batch.ranks, pairs_per_token);
  const auto tokens = static_cast<std::size_t>(total_tokens(batch.lengths));
  std::vector<int> rank_of(tokens, 0);
  double tightest = kInfinite;
  bool beaten = false;
  for (std::size_t digit = 0; digit < tokens;) {  // counts through all of them, in base `ranks`
    const SmallPlan plan = measure(batch.lengths, rank_of, batch.ranks, pairs_per_token);
    const double rows = row_atomic_volume(batch.lengths, plan.caps);
    const double coupled = coupled_volume(batch.lengths, batch.ranks, plan.caps, 20);
    const double nodes = volume_into_groups(batch.lengths, batch.ranks, 2, plan.caps);
    const double any = any_plan_volume(batch.lengths, plan.caps, {2, 2});
    constexpr double kRounding = 1e-9;
    beaten = beaten || plan.received < rows - kRounding || plan.received < coupled - kRounding ||
             plan.into_nodes < nodes - kRounding || plan.received < any - kRounding ||
             plan.most_received < most_received_by_a_rank(batch.lengths, plan.caps) - kRounding;
    if (rows > 0) tightest = std::min(tightest, plan.received / rows);
    for (digit = 0; digit < tokens && ++rank_of[digit] == batch.ranks; ++digit) rank_of[digit] = 0;
  }
  CHECK_FALSE(beaten);
  CHECK(tightest < 1.2);  // the bounds are near to what can be had
}

// --- links, latency, memory -------------------------------------------------------------------------------------------

/// A second per pair, two per token, three bytes per key.
constexpr LayerCosts kSmallLayer = {.seconds_per_pair = 1,
                                    .seconds_per_token = 2,
                                    .bytes_per_kv_token = 3,
                                    .island_bytes_per_second = 6,
                                    .nic_bytes_per_second = 1};

TEST_CASE("link bounds: ten tokens, two to a rank, four to a node") {
  const RankCaps caps{.tokens = 2.5, .pairs_per_token = 2};
  const LinkBounds bounds = link_bounds({10}, 4, 2, caps, kSmallLayer);
  CHECK(volume_into_groups({10}, 4, 2, caps) == Approx(5));
  CHECK(volume_into_groups({10}, 4, 4, caps) == 0);
  CHECK(bounds.into_ranks == Approx(10 * 2 / 4.0 + (7.5 + 5 + 2.5) * 3 / 6 / 4));
  CHECK(bounds.into_nodes == Approx(10 * 2 / 4.0 + 5 * 3 / 1.0 / 4));
  CHECK(bounds.longest_document_into_rank == Approx(7.5 * 3 / 6));
  CHECK(bounds.longest_document_into_node == Approx(5 * 3 / 1.0 / 2));
}

TEST_CASE("latency bound: a document on three ranks") {
  const LatencyBound bound = latency_bound({10, 2}, {.tokens = 4}, {.link_seconds = 5, .seconds_per_message = 1});
  CHECK(bound.ranks == 3);
  CHECK(bound.direct_messages == 2);
  CHECK(bound.relayed_rounds == 2);
  CHECK(bound.direct_seconds == 7);
  CHECK(bound.any_seconds == 6);
  CHECK(latency_bound({10}, {.cost = 11}, {}).ranks == 5);  // 55 pairs
  CHECK(latency_bound({10}, {.tokens = 2}, {}).relayed_rounds == 3);
  CHECK(latency_bound({10}, {.tokens = 10}, {.link_seconds = 5}).any_seconds == 0);
  CHECK(latency_bound({2}, {.tokens = 0.1}, {}).ranks == 2);  // a row lies on one rank
}

TEST_CASE("memory bound: ranks that a batch needs, and the tightest cap") {
  const RankMemory memory{.bytes = 100, .state_bytes = 20, .bytes_per_token = 15};
  CHECK(most_tokens_of_a_rank(memory) == 5);
  CHECK(fewest_ranks(50, memory) == 10);
  CHECK(fewest_ranks(51, memory) == 11);
  CHECK(smallest_token_cap(64, 8) == 1);
  CHECK(smallest_token_cap(9, 8) == Approx(16 / 9.0));
  CHECK(smallest_token_cap(3, 8) == Approx(8 / 3.0));
  CHECK(gathered_bytes(100, 30, 2) == 140);
  CHECK(gathered_bytes(20, 30, 2) == 0);
  CHECK_THROWS_WITH(fewest_ranks(1, {.bytes = 100, .state_bytes = 90, .bytes_per_token = 15}), Contains("no token fits"));
  CHECK_THROWS_WITH(most_tokens_of_a_rank({.bytes = 100, .state_bytes = 101, .bytes_per_token = 1}), Contains("shard"));
  CHECK_THROWS_AS(most_tokens_of_a_rank({.bytes = 100}), InvalidInput);
  CHECK_THROWS_AS(smallest_token_cap(1, 0), InvalidInput);
}

// --- the layer --------------------------------------------------------------------------------------------------------

TEST_CASE("layer bound: says what binds") {
  const BoundOptions options{.ranks = 4, .ranks_per_node = 2, .token_cap = 1, .cost_slack = kInfinite};
  const auto with = [&](double seconds_per_pair, double island, double nic, MessageCosts messages = {}) {
    LayerCosts layer = kSmallLayer;
    layer.seconds_per_pair = seconds_per_pair;
    layer.island_bytes_per_second = island;
    layer.nic_bytes_per_second = nic;
    BoundOptions with_messages = options;
    with_messages.messages = messages;
    return layer_bound({10}, layer, with_messages);
  };
  const LayerBound compute = with(1, 6, 1);
  CHECK(compute.seconds == Approx((55 + 20) / 4.0));
  CHECK(compute.compute_seconds == compute.seconds);
  CHECK(to_string(compute.binding) == "compute");
  CHECK(compute.volumes->row_atomic == Approx(15));
  CHECK(compute.volumes->most_into_one_rank == Approx(7.5));

  const LayerBound node = with(0.1, 6, 1);
  CHECK(node.binding == Binding::links_into_nodes);
  CHECK(node.seconds == Approx(5 + 5 * 3 / 4.0));
  CHECK(with(0.1, 0.6, 0.05).binding == Binding::longest_document_into_node);
  CHECK(with(0.1, 0.6, 0.5).binding == Binding::longest_document_into_rank);
  CHECK(with(0.1, 3, 10).binding == Binding::links_into_ranks);
  CHECK(with(0.1, 60, 10, {.link_seconds = 100}).binding == Binding::latency);
  CHECK(with(0.1, 60, 10, {.link_seconds = 100}).seconds == 100);
  CHECK(to_string(Binding::links_into_nodes) == "links into nodes");
  CHECK(with(0.01, 0.01, 0.01).any_plan_binding == Binding::links_into_ranks);
}

TEST_CASE("layer bound: other masks than the causal one have the compute bound only, of the pairs that they have") {
  const DocumentMask causal({0, 10, 13});
  const BoundOptions options{.ranks = 4, .ranks_per_node = 2, .token_cap = 1};
  CHECK(layer_bound(causal, kSmallLayer, options).seconds == layer_bound({10, 3}, kSmallLayer, options).seconds);
  CHECK(layer_bound(causal, kSmallLayer, options).volumes.has_value());
  const DocumentMask window({0, 10, 13}, window_rule(3));
  const LayerBound bound = layer_bound(window, kSmallLayer, options);
  CHECK_FALSE(bound.volumes.has_value());
  CHECK(bound.binding == Binding::compute);
  CHECK(bound.seconds == Approx((1 + 2 + 8 * 3 + 1 + 2 + 3 + 13 * 2) / 4.0));
  for (const MaskRule& rule : {block_rule(4), parse_mask_rule("full"), parse_mask_rule("prefix:4"), parse_mask_rule("ahead:2")})
    CHECK_FALSE(layer_bound(DocumentMask({0, 10}, rule), kSmallLayer, options).volumes.has_value());
}

TEST_CASE("layer bound: no documents, one rank, and more ranks than tokens are no trouble") {
  CHECK(layer_bound(std::vector<Token>{}, kSmallLayer, {}).seconds == 0);
  const LayerBound alone = layer_bound({10, 3}, kSmallLayer, {.ranks = 1});
  CHECK(alone.seconds == Approx(55 + 6 + 26));
  CHECK(alone.volumes->coupled == 0);
  const LayerBound many = layer_bound({3, 1}, kSmallLayer, {.ranks = 64});
  CHECK(std::isfinite(many.seconds));
  CHECK(many.volumes->coupled >= many.volumes->row_atomic);
}

TEST_CASE("layer bound: what makes no sense is refused, and says what works") {
  const auto refusal = [](const BoundOptions& options) { layer_bound({5}, kSmallLayer, options); };
  CHECK_THROWS_WITH(refusal({.ranks = 0}), Contains("ranks") && Contains("at least 1"));
  CHECK_THROWS_WITH(refusal({.ranks_per_node = 0}), Contains("ranks_per_node"));
  CHECK_THROWS_WITH(refusal({.token_cap = 0.5}), Contains("token_cap"));
  CHECK_THROWS_WITH(refusal({.token_cap = std::nan("")}), Contains("token_cap"));
  CHECK_THROWS_WITH(refusal({.cost_slack = -1}), Contains("cost_slack"));
  CHECK_THROWS_WITH(layer_bound({5, 0}, kSmallLayer, {}), Contains("length"));
  CHECK_THROWS_WITH(compute_bound_seconds(1, 1, std::vector<RankSpeed>{}), Contains("no ranks"));
  CHECK_THROWS_AS(compute_bound_seconds(1, 1, {{0, 1}}), InvalidInput);
}

}  // namespace
}  // namespace hsap
