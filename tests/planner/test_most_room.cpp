#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "planner/placement/most_room.hpp"

using namespace hsap;

TEST_CASE("most room: the first of the bins with most room, however rooms change") {
  const auto seed = GENERATE(range(0u, 40u));
  CAPTURE(seed);
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> half_pairs(-20, 20);  // few values, so that many are equal, and some below zero
  const auto draw = [&] { return 0.5 * half_pairs(random); };

  std::vector<Bin> bins(1 + seed % 20);
  for (Bin& bin : bins) bin.target = draw();
  MostRoom most_room(bins);
  for (int round = 0; round < 200; ++round) {
    const auto most =
        std::max_element(bins.begin(), bins.end(), [](const Bin& a, const Bin& b) { return a.room() < b.room(); });
    CHECK(most_room.bin() == static_cast<std::size_t>(most - bins.begin()));
    const std::size_t changed = round % 2 == 0 ? most_room.bin() : random() % bins.size();
    bins[changed].target = draw();
    most_room.set(changed, bins[changed].room());
  }
}
