// Documents from a distribution. Every step is arithmetic of our own on the generator's 64-bit output, because the standard's
// distributions differ between libraries; std::mt19937_64 itself is fixed by the standard.
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "planner/inputs/document_lengths.hpp"
#include "planner/ir/errors.hpp"

namespace hsap {

namespace {

__extension__ using Product = unsigned __int128;

/// A number in [0, 1) from the upper 53 bits.
double unit_interval(std::uint64_t random) { return static_cast<double>(random >> 11) * 0x1.0p-53; }

/// A number in [0, range): the upper half of random x range (Lemire, "Fast random integer generation in an interval", 2019,
/// without the rejection step: the bias is below range / 2^64).
Token below(std::uint64_t random, Token range) {
  return static_cast<Token>(static_cast<std::uint64_t>((Product{random} * static_cast<std::uint64_t>(range)) >> 64));
}

/// Sums of the weights up to and including each bucket. Throws InvalidInput for a bucket that makes no sense.
std::vector<double> cumulative_weights(const LengthHistogram& histogram) {
  std::vector<double> sums;
  double sum = 0;
  for (const LengthHistogram::Bucket& bucket : histogram.buckets) {
    if (bucket.shortest < 1 || bucket.longest < bucket.shortest || !std::isfinite(bucket.weight) || bucket.weight < 0)
      throw InvalidInput(histogram.name, 0,
                         "bucket " + std::to_string(sums.size()) + " is " + std::to_string(bucket.shortest) + " to " +
                             std::to_string(bucket.longest) + " with weight " + std::to_string(bucket.weight) +
                             ", expected 1 <= shortest <= longest and a weight from 0");
    sums.push_back(sum += bucket.weight);
  }
  if (sum <= 0) throw InvalidInput(histogram.name, 0, "no bucket has a weight above 0");
  return sums;
}

}  // namespace

std::vector<Token> draw_lengths(const LengthHistogram& histogram, Token tokens, std::uint64_t seed) {
  if (tokens < 1) throw InvalidInput(histogram.name, 0, "asked for " + std::to_string(tokens) + " tokens, expected at least 1");
  const std::vector<double> sums = cumulative_weights(histogram);
  std::mt19937_64 random(seed);
  std::vector<Token> lengths;
  for (Token drawn = 0; drawn < tokens; drawn += lengths.back()) {
    const double weight = unit_interval(random()) * sums.back();
    const auto chosen = std::upper_bound(sums.begin(), sums.end(), weight) - sums.begin();
    const LengthHistogram::Bucket& bucket = histogram.buckets[static_cast<std::size_t>(chosen)];
    lengths.push_back(bucket.shortest + below(random(), bucket.longest - bucket.shortest + 1));
  }
  return lengths;
}

}  // namespace hsap
