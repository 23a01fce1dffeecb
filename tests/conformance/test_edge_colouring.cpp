#include <catch2/catch.hpp>

#include <random>
#include <set>

#include "planner/strategies/edge_colouring.hpp"

namespace hsap {
namespace {

TEST_CASE("edge colouring: a triangle of messages fits in one round") {
  CHECK(colour_edges({{0, 1}, {1, 2}, {2, 0}}, 3) == std::vector<int>{0, 0, 0});
}

TEST_CASE("edge colouring: no rank sends or receives twice in a round, and the busiest rank sets the number of rounds") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const int ranks = 2 + static_cast<int>(random() % 30);
    std::vector<MessageEdge> edges;
    std::vector<int> sends(static_cast<std::size_t>(ranks)), receives(static_cast<std::size_t>(ranks));
    for (unsigned i = 0; i < random() % 300; ++i) {
      edges.push_back({static_cast<int>(random() % static_cast<unsigned>(ranks)),
                       static_cast<int>(random() % static_cast<unsigned>(ranks))});
      ++sends[static_cast<std::size_t>(edges.back().from)];
      ++receives[static_cast<std::size_t>(edges.back().to)];
    }
    const std::vector<int> colours = colour_edges(edges, ranks);
    std::set<std::pair<int, int>> sending, receiving;
    int rounds = 0;
    for (std::size_t i = 0; i < edges.size(); ++i) {
      CHECK(sending.emplace(edges[i].from, colours[i]).second);
      CHECK(receiving.emplace(edges[i].to, colours[i]).second);
      rounds = std::max(rounds, colours[i] + 1);
    }
    CHECK(rounds ==
          std::max(*std::max_element(sends.begin(), sends.end()), *std::max_element(receives.begin(), receives.end())));
  }
}

}  // namespace
}  // namespace hsap
