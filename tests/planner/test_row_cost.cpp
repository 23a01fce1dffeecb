// The closed forms of row costs against sums and searches over every row.
#include "planner/placement/row_cost.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "tests/planner/random_sets.hpp"

namespace hsap {
namespace {

double cost_by_rows(const DocumentMask& mask, std::size_t document, double pairs_per_token, Token begin, Token end) {
  const TokenRange tokens = mask.document(document);
  double cost = 0;
  for (Token query = tokens.begin + begin; query < tokens.begin + end; ++query) {
    cost += pairs_per_token;
    for (Token key = tokens.begin; key < tokens.end; ++key) cost += test::sees(mask, query, key) ? 1 : 0;
  }
  return cost;
}

TEST_CASE("row cost: three rows of a document, by hand") {
  const DocumentMask causal({0, 2, 12});
  CHECK(RowCost(causal, 0).of(1, 2, 5) == 3 + 4 + 5);
  CHECK(RowCost(causal, 10).of(1, 2, 5) == 13 + 14 + 15);
  CHECK(RowCost(causal, 0).tail_begin(1, 0, 5, 9) == 3);  // rows 3 and 4 cost 4 + 5
  CHECK(RowCost(causal, 0).head_end(1, 0, 5, 6) == 3);    // rows 0, 1, 2 cost 1 + 2 + 3
  CHECK(RowCost(causal, 0).keys_across(1, 7) == 7);
  const DocumentMask window({0, 2, 12}, window_rule(4));
  CHECK(RowCost(window, 0).of(1, 2, 5) == 3 + 4 + 4);
  CHECK(RowCost(window, 0).keys_across(1, 7) == 3);
  const DocumentMask full({0, 2, 12}, parse_mask_rule("full"));
  CHECK(RowCost(full, 0).of(1, 2, 5) == 3 * 10);
  CHECK(RowCost(full, 0).tail_begin(1, 0, 10, 42) == 6);
  CHECK(RowCost(full, 0).keys_across(1, 7) == 10);
  const DocumentMask blocks({0, 2, 12}, parse_mask_rule("blocks:3,sinks:1"));
  CHECK(RowCost(blocks, 0).of(1, 2, 5) == 3 + 2 + 3);
  CHECK(RowCost(blocks, 0).keys_across(1, 6) == 1);
  CHECK(RowCost(blocks, 0).keys_across(1, 7) == 1 + 1);
}

TEST_CASE("row cost: sums and cuts equal those found row by row, under every mask rule") {
  const unsigned seed = GENERATE(1u, 2u, 3u);
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 600; ++round) {
    const double per_token = static_cast<double>(test::draw(random, 0, 3)) * 7.25;
    const Token begin = test::draw(random, 0, 50);
    const Token end = begin + test::draw(random, 1, 50);
    const DocumentMask mask({0, 3, 3 + end + test::draw(random, 0, 10)}, test::random_rule(random, 40));
    const RowCost rows(mask, per_token);
    CAPTURE(round, to_string(mask.rule()), per_token, begin, end);
    const double all = cost_by_rows(mask, 1, per_token, begin, end);
    CHECK(rows.of(1, begin, end) == Approx(all));

    const double wanted = all * static_cast<double>(test::draw(random, 0, 110)) / 100;
    const auto error = [&](double cost) { return std::abs(cost - wanted); };
    const Token tail = rows.tail_begin(1, begin, end, wanted);
    const Token head = rows.head_end(1, begin, end, wanted);
    REQUIRE((tail >= begin && tail <= end && head >= begin && head <= end));
    // A cut lies at the row nearest to where the cost is met, so its error is at most that of half a row.
    double row = 0;
    for (Token at = begin; at < end; ++at) row = std::max(row, cost_by_rows(mask, 1, per_token, at, at + 1));
    CHECK(error(std::min(wanted, all) - rows.of(1, tail, end) + wanted) <= 0.5 * row + 0.5);
    CHECK(error(std::min(wanted, all) - rows.of(1, begin, head) + wanted) <= 0.5 * row + 0.5);

    if (begin == 0) continue;
    const TokenRange document = mask.document(1);
    const TokenSet before{{document.begin, document.begin + begin}};
    const TokenSet after{{document.begin + begin, document.end}};
    CHECK(rows.keys_across(1, begin) ==
          intersection(mask.keys_seen_by(after), before).size() + intersection(mask.keys_seen_by(before), after).size());
  }
}

TEST_CASE("row cost: a price per token is deducted from every row") {
  const DocumentMask mask({0, 10});
  const RowCost priced = RowCost(mask, 2).less(6);
  CHECK(priced.of(0, 0, 6) == Approx(1 + 2 + 3 + 4 + 5 + 6 - 6 * 4));
  CHECK(priced.tail_begin(0, 0, 10, 10 - 4 + 9 - 4) == 8);
}

}  // namespace
}  // namespace hsap
