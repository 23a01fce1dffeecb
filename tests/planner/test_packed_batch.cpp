// First-fit packing of documents into batches.
#include "planner/inputs/packed_batch.hpp"

#include <catch2/catch.hpp>
#include <ctime>
#include <numeric>
#include <random>
#include <vector>

#include "planner/ir/errors.hpp"

namespace hsap {
namespace {

using Catch::Matchers::Contains;
using Offsets = std::vector<Token>;

/// First-fit as one would say it: look at every batch in turn.
std::vector<Offsets> first_fit_slowly(const std::vector<Token>& lengths, Token tokens) {
  std::vector<Offsets> batches;
  for (const Token length : lengths) {
    for (Token rest = length; rest > 0; rest -= tokens) {
      const Token piece = std::min(rest, tokens);
      std::size_t batch = 0;
      while (batch < batches.size() && batches[batch].back() + piece > tokens) ++batch;
      if (batch == batches.size()) batches.push_back({0});
      batches[batch].push_back(batches[batch].back() + piece);
    }
  }
  return batches;
}

TEST_CASE("packing: each document goes to the first batch with room, in arrival order") {
  const Packing packing = pack_first_fit({6, 5, 3, 4, 1, 5}, 10);
  REQUIRE(packing.batches.size() == 3);
  CHECK(packing.batches[0].offsets == Offsets{0, 6, 9, 10});  // 6, then 3, then 1
  CHECK(packing.batches[1].offsets == Offsets{0, 5, 9});      // 5, then 4
  CHECK(packing.batches[2].offsets == Offsets{0, 5});
  CHECK(packing.report.documents == 6);
  CHECK(packing.report.batches == 3);
  CHECK(packing.report.split_documents == 0);
  CHECK(packing.report.unused_tokens == 6);
  CHECK(packing.report.remarks == std::vector<std::string>{"6 tokens (20.00 %) of 3 batches are unused"});
}

TEST_CASE("packing: a document longer than the batch is split into batch-sized pieces and a rest, and that is reported") {
  const Packing packing = pack_first_fit({3, 25, 10, 2}, 10);
  REQUIRE(packing.batches.size() == 4);
  CHECK(packing.batches[0].offsets == Offsets{0, 3, 8, 10});  // 3, the rest of 25, and 2
  CHECK(packing.batches[1].offsets == Offsets{0, 10});
  CHECK(packing.batches[2].offsets == Offsets{0, 10});
  CHECK(packing.batches[3].offsets == Offsets{0, 10});  // exactly as long as the batch: not split
  CHECK(packing.report.split_documents == 1);
  CHECK(packing.report.unused_tokens == 0);
  CHECK(packing.report.remarks ==
        std::vector<std::string>{"1 of 4 documents longer than the batch of 10 tokens and split (longest 25)"});
}

TEST_CASE("packing: empty documents are left out and reported") {
  const Packing packing = pack_first_fit({0, 4, 0, 6}, 10);
  REQUIRE(packing.batches.size() == 1);
  CHECK(packing.batches[0].offsets == Offsets{0, 4, 10});
  CHECK(packing.batches[0].documents() == 2);
  CHECK(packing.report.documents == 2);
  CHECK(packing.report.remarks == std::vector<std::string>{"2 empty documents ignored"});
}

TEST_CASE("packing: what makes no sense is refused") {
  CHECK_THROWS_WITH(pack_first_fit({5}, 0), Contains("found 0 tokens, expected at least 1"));
  CHECK_THROWS_WITH(pack_first_fit({}, 10), Contains("no document has tokens"));
  CHECK_THROWS_WITH(pack_first_fit({0, 0}, 10), Contains("no document has tokens"));
  CHECK_THROWS_WITH(pack_first_fit({5, -1}, 10), Contains("found -1"));
  CHECK_THROWS_WITH(pack_first_fit({Token{1} << 40}, 1), Contains("give larger batches"));
}

TEST_CASE("packing: random documents land where looking at every batch would put them") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const Token tokens = static_cast<Token>(1 + random() % 50);
    std::vector<Token> lengths(1 + random() % 200);
    for (Token& length : lengths) length = static_cast<Token>(random() % 70);
    lengths.push_back(1);
    const std::vector<Offsets> expected = first_fit_slowly(lengths, tokens);
    const Packing packing = pack_first_fit(lengths, tokens);
    REQUIRE(packing.batches.size() == expected.size());
    for (std::size_t batch = 0; batch < expected.size(); ++batch) CHECK(packing.batches[batch].offsets == expected[batch]);
    const Token all = std::accumulate(lengths.begin(), lengths.end(), Token{0});
    CHECK(packing.report.unused_tokens == static_cast<Token>(expected.size()) * tokens - all);
  }
}

TEST_CASE("packing: a million documents into a hundred thousand batches stay fast") {
  std::mt19937_64 random(3);
  std::vector<Token> lengths(1'000'000);
  for (Token& length : lengths) length = static_cast<Token>(1 + random() % 2048);
  const std::clock_t start = std::clock();  // processor time: a busy machine does not count
  const Packing packing = pack_first_fit(lengths, 8192);
  CHECK(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC < 2.0);  // 0.1 s optimised; trying every batch takes minutes
  CHECK(packing.batches.size() > 100'000);
}

}  // namespace
}  // namespace hsap
