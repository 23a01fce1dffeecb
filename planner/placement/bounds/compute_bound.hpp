// Bound by work: however pairs and tokens are spread, some rank is busy as long as the mean.
#pragma once

#include <vector>

namespace hsap {

/// Seconds that a rank takes per pair and per token; both > 0, per token also 0.
struct RankSpeed {
  double seconds_per_pair = 0;
  double seconds_per_token = 0;
};

/// Seconds in which `ranks` equal ranks can at best compute `pairs` (query, key) pairs, under whatever mask, and the linear
/// work of `tokens` tokens: the mean, since the slowest rank is never below it. Any plan, moved queries and tiles included;
/// plans of whole rows reach it up to one row.
double compute_bound_seconds(double pairs, double tokens, const RankSpeed& speed, int ranks);

/// The same for ranks of unequal speed. For any price p >= 0 (pairs that a token is worth) a rank turns out at most
/// max(1 / seconds_per_pair, p / seconds_per_token) of worth per second and pairs + p tokens must be turned out, so t >= (pairs
/// + p tokens) / sum of those; the best price is taken, which makes this the exact answer for divisible work (it is the dual of
/// that linear program; our derivation). When all ranks have the same ratio of the two speeds it is the work of one rank over
/// the sum of relative speeds. O(n log n). Throws InvalidInput without ranks, or for times that are not positive and finite.
double compute_bound_seconds(double pairs, double tokens, const std::vector<RankSpeed>& ranks);

}  // namespace hsap
