#include "planner/placement/bounds/compute_bound.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "planner/ir/errors.hpp"

namespace hsap {

namespace {

void check(const std::vector<RankSpeed>& ranks) {
  if (ranks.empty()) throw InvalidInput("compute bound: found no ranks, expected at least 1");
  for (const RankSpeed& rank : ranks)
    if (!(rank.seconds_per_pair > 0) || !(rank.seconds_per_token >= 0) || std::isinf(rank.seconds_per_pair) ||
        std::isinf(rank.seconds_per_token))
      throw InvalidInput("compute bound: found " + std::to_string(rank.seconds_per_pair) + " s per pair and " +
                         std::to_string(rank.seconds_per_token) +
                         " s per token, expected finite times, those of pairs above 0");
}

/// Price of a token, in pairs, from which on the rank would rather do tokens.
double own_price(const RankSpeed& rank) { return rank.seconds_per_token / rank.seconds_per_pair; }

}  // namespace

double compute_bound_seconds(double pairs, double tokens, const RankSpeed& speed, int ranks) {
  if (ranks < 1) throw InvalidInput("compute bound: the number of ranks is " + std::to_string(ranks) + ", expected at least 1");
  check({speed});
  return (pairs * speed.seconds_per_pair + tokens * speed.seconds_per_token) / ranks;
}

double compute_bound_seconds(double pairs, double tokens, const std::vector<RankSpeed>& ranks) {
  check(ranks);
  std::vector<RankSpeed> by_price = ranks;
  std::sort(by_price.begin(), by_price.end(),
            [](const RankSpeed& a, const RankSpeed& b) { return own_price(a) < own_price(b); });
  double pairs_per_second = 0;  // of the ranks that do pairs at the price, and tokens_per_second of the others
  double tokens_per_second = 0;
  for (const RankSpeed& rank : by_price) pairs_per_second += 1 / rank.seconds_per_pair;
  // Between two ranks' own prices the bound is (a + b p) / (c + d p), so its best is at one of them.
  double best = 0;
  for (const RankSpeed& rank : by_price) {
    const double price = own_price(rank);
    best = std::max(best, (pairs + price * tokens) / (pairs_per_second + price * tokens_per_second));
    if (rank.seconds_per_token == 0) break;  // does tokens in no time: no higher price is worth a thought
    pairs_per_second -= 1 / rank.seconds_per_pair;
    tokens_per_second += 1 / rank.seconds_per_token;
  }
  return best;
}

}  // namespace hsap
