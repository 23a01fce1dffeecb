// Bins whose token caps bind: what the two kinds of fillers promise, and that the better one is kept.
#include <algorithm>
#include <catch2/catch.hpp>
#include <iterator>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include "planner/placement/cost_cut_steps.hpp"
#include "planner/placement/entering_keys.hpp"

namespace hsap {
namespace {

constexpr double kPairsPerToken = 26624;  // of a Llama-3-8B layer
constexpr double kTolerance = 2e-4;
constexpr double kCap = 1.25;

/// A part of a long document that begins far from its start, as a node gets it, and many short documents.
struct Batch {
  explicit Batch(unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_int_distribution<Token> of_long(60'000, 200'000), of_short(500, 6'000);
    offsets = {0, of_long(random)};
    const Token tokens_of_short = 20'000 + static_cast<Token>(random() % 80'000);
    while (offsets.back() < offsets[1] + tokens_of_short) offsets.push_back(offsets.back() + of_short(random));
    mask.emplace(offsets);
    rows.emplace(*mask, kPairsPerToken);
    const Token begin = offsets[1] / 2 + static_cast<Token>(random() % 20'000);
    pieces.push_back({0, begin, offsets[1], *rows});
    for (std::size_t d = 1; d < mask->documents(); ++d) pieces.push_back({d, 0, mask->document(d).size(), *rows});
    std::sort(pieces.begin(), pieces.end(), costlier);
  }

  std::vector<Bin> empty_bins(std::size_t count) const {
    double cost = 0;
    Token tokens = 0;
    for (const Piece& piece : pieces) cost += piece.cost, tokens += piece.tokens();
    Bin bin;
    bin.target = cost / static_cast<double>(count);
    bin.most = static_cast<Token>(kCap * static_cast<double>(tokens) / static_cast<double>(count));
    return std::vector<Bin>(count, bin);
  }

  Token keys(const std::vector<Bin>& bins) const {
    return std::accumulate(bins.begin(), bins.end(), Token{0},
                           [&](Token sum, const Bin& bin) { return sum + entering_keys(bin, *mask); });
  }

  std::vector<Token> offsets;
  std::optional<DocumentMask> mask;
  std::optional<RowCost> rows;
  std::vector<Piece> pieces;
};

/// Reach of the rows of each document minus rows held, where the causal rule holds.
Token keys_by_reach(const Bin& bin) {
  std::set<std::size_t> documents;
  for (const Piece& piece : bin.pieces) documents.insert(piece.document);
  Token keys = -bin.tokens;
  for (const std::size_t document : documents) {
    Token reach = 0;
    for (const Piece& piece : bin.pieces)
      if (piece.document == document) reach = std::max(reach, piece.end);
    keys += reach;
  }
  return keys;
}

Token tokens_of(const std::vector<Bin>& bins) {
  return std::accumulate(bins.begin(), bins.end(), Token{0}, [](Token sum, const Bin& bin) { return sum + bin.tokens; });
}

TEST_CASE("entering keys: under the causal rule, what rows reach less what is held") {
  const auto seed = GENERATE(range(0u, 20u));
  CAPTURE(seed);
  const Batch batch(seed);
  std::vector<Bin> bins = batch.empty_bins(8);
  fill_bins(batch.pieces, *batch.rows, kTolerance, bins);
  for (const Bin& bin : bins) CHECK(entering_keys(bin, *batch.mask) == keys_by_reach(bin));
}

TEST_CASE("fill bins: every row once, caps met, costs level, and no more keys enter than with whole fillers") {
  int caps_bound = 0, fewer = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    const Batch batch(seed);
    std::vector<Bin> bins = batch.empty_bins(8);
    std::vector<Bin> whole = bins;
    if (!fill_bins(batch.pieces, *batch.rows, kTolerance, bins)) continue;
    ++caps_bound;
    spread_under_caps(batch.pieces, *batch.rows, kTolerance, {}, Fillers::whole, whole);
    settle_bins(*batch.rows, kTolerance, whole);
    CHECK(batch.keys(bins) <= batch.keys(whole));
    fewer += batch.keys(bins) < batch.keys(whole);
    CHECK(token_limits_met(bins));
    CHECK(tokens_of(bins) == tokens_of(whole));
    for (const Bin& bin : bins) CHECK(bin.cost <= bin.target * (1 + 0.005));
  }
  CHECK(caps_bound >= 20);
  CHECK(fewer >= caps_bound / 4);
}

TEST_CASE(
    "spread under caps: with cut fillers no row is lost, and no bin of a part of the long document has far more than its "
    "cost") {
  const auto seed = GENERATE(range(0u, 40u));
  CAPTURE(seed);
  const Batch batch(seed);
  std::vector<Bin> bins = batch.empty_bins(8);
  CHECK_FALSE(spread_under_caps(batch.pieces, *batch.rows, kTolerance, {}, Fillers::cut, bins));
  Token tokens = 0;
  for (const Piece& piece : batch.pieces) tokens += piece.tokens();
  CHECK(tokens_of(bins) == tokens);
  for (const Bin& bin : bins)
    if (std::any_of(bin.pieces.begin(), bin.pieces.end(), [](const Piece& piece) { return piece.document == 0; }))
      CHECK(bin.cost < 1.25 * bin.target);
  for (std::size_t document = 0; document < batch.mask->documents(); ++document) {
    std::vector<Piece> held;
    for (const Bin& bin : bins)
      std::copy_if(bin.pieces.begin(), bin.pieces.end(), std::back_inserter(held),
                   [&](const Piece& piece) { return piece.document == document; });
    std::sort(held.begin(), held.end(), earlier);
    for (std::size_t i = 1; i < held.size(); ++i) CHECK(held[i].begin == held[i - 1].end);
  }
}

}  // namespace
}  // namespace hsap
