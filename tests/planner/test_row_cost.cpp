// The closed forms of row costs against sums and searches over every row.
#include "planner/placement/row_cost.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "tests/planner/random_sets.hpp"

namespace hsap {
namespace {

double cost_by_rows(std::optional<Token> window, double pairs_per_token, Token begin, Token end) {
  double cost = 0;
  for (Token row = begin; row < end; ++row)
    cost += static_cast<double>(window ? std::min(row + 1, *window) : row + 1) + pairs_per_token;
  return cost;
}

TEST_CASE("row cost: three rows of a document, by hand") {
  CHECK(RowCost(std::nullopt, 0).of(2, 5) == 3 + 4 + 5);
  CHECK(RowCost(std::nullopt, 10).of(2, 5) == 13 + 14 + 15);
  CHECK(RowCost(Token{4}, 0).of(2, 5) == 3 + 4 + 4);
  CHECK(RowCost(std::nullopt, 0).tail_begin(0, 5, 9) == 3);  // rows 3 and 4 cost 4 + 5
  CHECK(RowCost(std::nullopt, 0).head_end(0, 5, 6) == 3);    // rows 0, 1, 2 cost 1 + 2 + 3
  CHECK(RowCost(std::nullopt, 0).keys_before(7) == 7);
  CHECK(RowCost(Token{4}, 0).keys_before(7) == 3);
}

TEST_CASE("row cost: sums and cuts equal those found row by row") {
  std::mt19937 random(GENERATE(1u, 2u, 3u));
  for (int round = 0; round < 300; ++round) {
    const std::optional<Token> window = test::draw(random, 0, 2) == 0 ? std::nullopt : std::optional(test::draw(random, 1, 40));
    const double per_token = static_cast<double>(test::draw(random, 0, 3)) * 7.25;
    const Token begin = test::draw(random, 0, 50);
    const Token end = begin + test::draw(random, 1, 50);
    const RowCost rows(window, per_token);
    CAPTURE(round, window.value_or(0), per_token, begin, end);
    const double all = cost_by_rows(window, per_token, begin, end);
    CHECK(rows.of(begin, end) == Approx(all));

    const double wanted = all * static_cast<double>(test::draw(random, 0, 110)) / 100;
    const auto error = [&](double cost) { return std::abs(cost - wanted); };
    const Token tail = rows.tail_begin(begin, end, wanted);
    const Token head = rows.head_end(begin, end, wanted);
    REQUIRE((tail >= begin && tail <= end && head >= begin && head <= end));
    // A cut lies at the row nearest to where the cost is met, so its error is at most that of half a row.
    const double row = cost_by_rows(window, per_token, end - 1, end);
    CHECK(error(std::min(wanted, all) - rows.of(tail, end) + wanted) <= 0.5 * row + 0.5);
    CHECK(error(std::min(wanted, all) - rows.of(begin, head) + wanted) <= 0.5 * row + 0.5);
  }
}

TEST_CASE("row cost: a price per token is deducted from every row") {
  const RowCost priced = RowCost(std::nullopt, 2).less(6);
  CHECK(priced.of(0, 6) == Approx(1 + 2 + 3 + 4 + 5 + 6 - 6 * 4));
  CHECK(priced.tail_begin(0, 10, 10 - 4 + 9 - 4) == 8);
}

}  // namespace
}  // namespace hsap
