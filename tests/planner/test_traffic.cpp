// What a placement makes ranks receive and send, and its modelled layer time: small cases by hand, random ones token by token.
#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <random>

#include "planner/ir/errors.hpp"
#include "planner/placement/measures/layer_seconds.hpp"
#include "tests/planner/random_sets.hpp"

namespace hsap {
namespace {

template <typename Value>
std::vector<Token> each(const Traffic& traffic, Value value) {
  std::vector<Token> values;
  for (const RankTraffic& rank : traffic.ranks) values.push_back(rank.*value);
  return values;
}

using Tokens = std::vector<Token>;

TEST_CASE("traffic: eight rows, two to a rank, two ranks to a node") {
  const DocumentMask mask({0, 8});
  const Traffic traffic = measure_traffic(mask, place_contiguous(mask, 4), 2);
  CHECK(each(traffic, &RankTraffic::tokens) == Tokens{2, 2, 2, 2});
  CHECK(each(traffic, &RankTraffic::received) == Tokens{0, 2, 4, 6});
  CHECK(each(traffic, &RankTraffic::received_from_other_nodes) == Tokens{0, 0, 4, 4});
  CHECK(each(traffic, &RankTraffic::sent) == Tokens{6, 4, 2, 0});
  CHECK(traffic.into_nodes == Tokens{0, 4});
  CHECK(traffic.ranks[3].pairs == 7 + 8);
  CHECK(traffic.received() == 12);
  CHECK(traffic.most_received() == 6);
  CHECK(traffic.entered() == 4);
  CHECK(traffic.most_tokens() == 2);
  CHECK(traffic.tokens_over_mean() == 1);
  CHECK(traffic.cost_over_mean(0) == Approx(15 / 9.0));
  CHECK(traffic.cost_over_mean(10) == Approx(35 / 29.0));
}

TEST_CASE("traffic: with a window of three keys a rank needs two of the one before it") {
  const DocumentMask mask({0, 8}, window_rule(3));
  const Traffic traffic = measure_traffic(mask, place_contiguous(mask, 4), 2);
  CHECK(each(traffic, &RankTraffic::received) == Tokens{0, 2, 2, 2});
  CHECK(each(traffic, &RankTraffic::received_from_other_nodes) == Tokens{0, 0, 2, 0});
  CHECK(each(traffic, &RankTraffic::sent) == Tokens{2, 2, 2, 0});
  CHECK(traffic.into_nodes == Tokens{0, 2});
}

TEST_CASE("traffic: the last node may have fewer ranks, and ranks may hold nothing") {
  const DocumentMask mask({0, 3, 6});
  const Traffic traffic = measure_traffic(mask, {TokenSet{{0, 2}}, TokenSet{}, TokenSet{{2, 6}}}, 2);
  CHECK(each(traffic, &RankTraffic::received) == Tokens{0, 0, 2});
  CHECK(each(traffic, &RankTraffic::sent) == Tokens{2, 0, 0});
  CHECK(traffic.into_nodes == Tokens{0, 2});
  CHECK(measure_traffic(DocumentMask(), Placement(3), 2).cost_over_mean(1) == 1);
  CHECK_THROWS_AS(measure_traffic(mask, {}, 0), InvalidInput);
}

TEST_CASE("layer seconds: the slowest of attention, island and NIC, then the linear work") {
  const DocumentMask mask({0, 8});
  const Traffic traffic = measure_traffic(mask, place_contiguous(mask, 4), 2);
  LayerCosts layer{.seconds_per_pair = 1, .seconds_per_token = 5, .bytes_per_kv_token = 10};
  const auto seconds = [&](double island, double nic, KvExchange exchange) {
    layer.island_bytes_per_second = island;
    layer.nic_bytes_per_second = nic;
    return layer_seconds(traffic, layer, exchange);
  };
  // Rank 3 has 15 pairs and two tokens.
  CHECK(seconds(1e9, 1e9, KvExchange::direct) == Approx(15 + 10));
  CHECK(seconds(1e9, 1e9, KvExchange::hierarchical) == Approx(15 + 10));
  // Ranks 2 and 3 fetch four keys from the other node; hierarchically these four enter over two NICs.
  CHECK(seconds(1e9, 2, KvExchange::direct) == Approx(4 * 10 / 2.0 + 10));
  CHECK(seconds(1e9, 1, KvExchange::hierarchical) == Approx(4 * 10 / 2.0 + 10));
  // Rank 0 sends six keys, rank 3 receives as many.
  CHECK(seconds(2, 1e9, KvExchange::direct) == Approx(6 * 10 / 2.0 + 10));
  CHECK(seconds(2, 1e9, KvExchange::hierarchical) == Approx(6 * 10 / 2.0 + 10));
}

TEST_CASE("traffic: equals what counting token by token gives, under every rule") {
  const unsigned seed = GENERATE(1u, 2u, 3u, 4u);
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 40; ++round) {
    std::vector<Token> offsets{0};
    for (Token d = test::draw(random, 1, 6); d > 0; --d) offsets.push_back(offsets.back() + test::draw(random, 1, 12));
    const MaskRule rule = test::random_rule(random, 6);
    const DocumentMask mask(offsets, rule);
    const auto ranks = static_cast<std::size_t>(test::draw(random, 1, 7));
    const auto per_node = static_cast<std::size_t>(test::draw(random, 1, 4));
    std::vector<std::size_t> holder;
    std::vector<std::vector<TokenRange>> held(ranks);
    for (Token t = 0; t < mask.tokens(); ++t) {
      holder.push_back(static_cast<std::size_t>(test::draw(random, 0, static_cast<Token>(ranks) - 1)));
      held[holder.back()].push_back({t, t + 1});
    }
    Placement placement;
    for (const std::vector<TokenRange>& ranges : held) placement.emplace_back(ranges);

    std::vector<RankTraffic> expected(ranks);
    Tokens into_nodes((ranks + per_node - 1) / per_node, 0);
    for (Token key = 0; key < mask.tokens(); ++key) {
      const std::size_t owner = holder[static_cast<std::size_t>(key)];
      ++expected[owner].tokens;
      std::vector<bool> needs(ranks, false);
      for (Token query = 0; query < mask.tokens(); ++query)
        if (mask.visible_keys(query).contains(key)) {
          needs[holder[static_cast<std::size_t>(query)]] = true;
          ++expected[holder[static_cast<std::size_t>(query)]].pairs;
        }
      std::vector<bool> entered(into_nodes.size(), false);
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        if (!needs[rank] || rank == owner) continue;
        ++expected[rank].received;
        ++expected[owner].sent;
        if (rank / per_node == owner / per_node) continue;
        ++expected[rank].received_from_other_nodes;
        entered[rank / per_node] = true;
      }
      for (std::size_t node = 0; node < entered.size(); ++node) into_nodes[node] += entered[node] ? 1 : 0;
    }
    CAPTURE(to_string(rule), offsets, holder, per_node);
    const Traffic traffic = measure_traffic(mask, placement, static_cast<int>(per_node));
    const Traffic wanted{expected, into_nodes, static_cast<int>(per_node)};
    CHECK(each(traffic, &RankTraffic::tokens) == each(wanted, &RankTraffic::tokens));
    CHECK(each(traffic, &RankTraffic::received) == each(wanted, &RankTraffic::received));
    CHECK(each(traffic, &RankTraffic::received_from_other_nodes) == each(wanted, &RankTraffic::received_from_other_nodes));
    CHECK(each(traffic, &RankTraffic::sent) == each(wanted, &RankTraffic::sent));
    CHECK(traffic.into_nodes == into_nodes);
    for (std::size_t rank = 0; rank < ranks; ++rank) CHECK(traffic.ranks[rank].pairs == expected[rank].pairs);
  }
}

}  // namespace
}  // namespace hsap
