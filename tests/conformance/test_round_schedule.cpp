// Rounds of transfers between nodes: who has a unit when it is taken, and how much goes in one round.
#include "planner/strategies/relay/round_schedule.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <random>

namespace hsap {
namespace {

/// Nodes of one group each.
RelayNodes single_groups(int nodes, int stages) {
  std::vector<int> node_of_group;
  for (int node = 0; node < nodes; ++node) node_of_group.push_back(node);
  return RelayNodes(node_of_group, {.stages = stages, .in_rounds = true});
}

/// A causal document over nodes 0 .. nodes-1, each of which holds one unit and needs those of all nodes before it.
TransferCircle chain(int nodes, Token rows_of_first, Token rows_of_others) {
  TransferCircle circle;
  for (int node = 0; node < nodes; ++node) {
    circle.nodes.push_back(node);
    ++circle.units;
  }
  for (std::size_t taker = 1; taker < circle.nodes.size(); ++taker)
    for (std::size_t distance = 1; distance <= taker; ++distance) {
      const std::size_t unit = taker - distance;
      circle.transfers.push_back({.unit = unit,
                                  .taker = taker,
                                  .distance = distance,
                                  .load = unit == 0 ? rows_of_first : rows_of_others,
                                  .parts = 1,
                                  .deadline = static_cast<double>(distance)});
    }
  return circle;
}

void choose(std::vector<TransferCircle>& circles, const RelayNodes& nodes, Token rows) {
  std::vector<TransferCircle*> all;
  for (TransferCircle& circle : circles) all.push_back(&circle);
  choose_rounds(all, nodes, rows);
}

int source_node(const TransferCircle& circle, const UnitTransfer& transfer) { return circle.nodes[transfer.source]; }

TEST_CASE("rounds: a unit is taken from its holder, or from who took the same parts in an earlier round") {
  const std::uint64_t seed = GENERATE(range(1, 31));
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  const auto draw = [&](int low, int high) { return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1)); };
  const int nodes = draw(2, 20), stages = draw(1, 6);
  std::vector<TransferCircle> circles;
  Token most = 0;
  for (int c = draw(1, 4); c > 0; --c) {
    TransferCircle& circle = circles.emplace_back();
    for (int node = 0; node < nodes; ++node)
      if (random() % 3 > 0 || node < 2) circle.nodes.push_back(node);
    circle.units = circle.nodes.size();
    std::vector<Token> rows;
    for (std::size_t place = 0; place < circle.nodes.size(); ++place) rows.push_back(draw(1, 50));
    for (std::size_t taker = 0; taker < circle.nodes.size(); ++taker)
      for (std::size_t distance = 1; distance < circle.nodes.size(); ++distance) {
        const std::size_t unit = circle.before(taker, distance);
        const auto parts = static_cast<std::uint64_t>(draw(0, 2) > 0 ? 7 : draw(0, 7));  // 0: it cannot be passed on
        most += rows[unit];
        circle.transfers.push_back({.unit = unit,
                                    .taker = taker,
                                    .distance = distance,
                                    .load = rows[unit],
                                    .parts = parts,
                                    .deadline = draw(0, 100) * 1.0});
      }
  }
  const RelayNodes relay_nodes = single_groups(nodes, stages);
  choose(circles, relay_nodes, most / (nodes * stages));
  for (const TransferCircle& circle : circles) {
    std::map<std::pair<std::size_t, std::size_t>, const UnitTransfer*> taken;  // by unit and place
    for (const UnitTransfer& transfer : circle.transfers) taken[{transfer.unit, transfer.taker}] = &transfer;
    for (const UnitTransfer& transfer : circle.transfers) {
      CHECK(transfer.round >= 0);
      CHECK(transfer.round < relay_nodes.between_stages);
      if (transfer.source == circle.before(transfer.taker, transfer.distance)) continue;
      const auto there = taken.find({transfer.unit, transfer.source});
      REQUIRE(there != taken.end());
      CHECK(transfer.parts != 0);
      CHECK((there->second->parts & transfer.parts) == transfer.parts);
      CHECK(there->second->round == transfer.source_round);
      CHECK(transfer.source_round < transfer.round);
    }
  }
}

TEST_CASE("rounds: no node sends or takes in more in a round than fits") {
  const int nodes = GENERATE(2, 7, 16, 33);
  const Token limit = 40;
  std::vector<TransferCircle> circles{chain(nodes, 10, 10)};
  const RelayNodes relay_nodes = single_groups(nodes, 100);
  choose(circles, relay_nodes, limit);
  std::map<std::pair<int, int>, Token> sent, taken;  // by node and round
  for (const UnitTransfer& transfer : circles.front().transfers) {
    sent[{source_node(circles.front(), transfer), transfer.round}] += transfer.load;
    taken[{circles.front().nodes[transfer.taker], transfer.round}] += transfer.load;
  }
  for (const auto& loads : {sent, taken})
    for (const auto& [key, rows] : loads) {
      CHECK(rows <= limit);
      if (key.second == 0) CHECK(rows <= limit / 4);  // the first rounds are short
    }
}

TEST_CASE("rounds: where all nodes need what one holds, others pass it on, and all have it sooner") {
  const int nodes = GENERATE(8, 32);
  std::vector<TransferCircle> circles{chain(nodes, 40, 1)};
  const RelayNodes relay_nodes = single_groups(nodes, 2 * nodes);
  choose(circles, relay_nodes, 40);
  int from_holder = 0, last = 0;
  for (const UnitTransfer& transfer : circles.front().transfers) {
    if (transfer.unit != 0) continue;
    from_holder += source_node(circles.front(), transfer) == 0;
    last = std::max(last, transfer.round);
  }
  CHECK(from_holder <= nodes / 2);
  CHECK(last < nodes / 2);  // nodes - 1 rounds from the holder alone
}

}  // namespace
}  // namespace hsap
