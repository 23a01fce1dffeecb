// Problems for tests over all strategies: shapes, packings by hand and at random.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "planner/strategies/strategy.hpp"

namespace hsap::test {

/// `ranks` ranks in nodes of `per_node` (the last node may be smaller).
inline Problem problem_on(const AttentionShape& shape, const std::vector<Token>& offsets, int ranks, int per_node) {
  Problem problem;
  problem.shape = shape;
  problem.mask = DocumentMask(offsets, shape.mask);
  problem.ranks = ranks;
  for (int rank = 0; rank < ranks; ++rank) problem.node_of_rank.push_back(rank / per_node);
  return problem;
}

/// The layer of the point at which bytes and memory were worked out by hand, with one document of 131,072 tokens on 16 ranks in
/// nodes of 8: one rank's Q is 64 MiB, its K and V together 32 MiB.
inline const AttentionShape kShapeAtThePoint{.kind = AttentionKind::softmax,
                                             .query_heads = 32,
                                             .kv_heads = 8,
                                             .qk_dim = 128,
                                             .v_dim = 128,
                                             .dtype = DType::bf16,
                                             .mask = {}};

inline std::vector<Token> offsets_of(const std::vector<Token>& lengths) {
  std::vector<Token> offsets{0};
  for (const Token length : lengths) offsets.push_back(offsets.back() + length);
  return offsets;
}

/// About `tokens` tokens: lengths of very different scales, one-token documents among them.
inline std::vector<Token> random_offsets(std::uint64_t seed, Token tokens) {
  std::mt19937_64 random(seed);
  std::vector<Token> offsets{0};
  while (offsets.back() < tokens) {
    const Token longest = Token{1} << random() % 8;
    offsets.push_back(offsets.back() + 1 + static_cast<Token>(random() % static_cast<std::uint64_t>(longest)));
  }
  return offsets;
}

/// Packings in which something usually goes wrong.
struct NamedPacking {
  std::string name;
  std::vector<Token> offsets;
};
inline std::vector<NamedPacking> hard_packings() {
  return {
      {"one document", offsets_of({97})},
      {"one token", offsets_of({1})},
      {"fewer tokens than ranks", offsets_of({1, 2})},
      {"documents of one token", offsets_of(std::vector<Token>(37, 1))},
      {"equal documents", offsets_of(std::vector<Token>(6, 16))},
      {"long head, short tail", offsets_of({80, 1, 1, 3, 2, 9})},
      {"short head, long tail", offsets_of({1, 5, 2, 88})},
      {"two documents of 4 and 3 tokens", offsets_of({4, 3})},
  };
}

/// Every option set of every degrees that the search tries for the problem, refinements of the first one included.
struct Choice {
  const Strategy* strategy;
  Degrees degrees;
  StrategyOptions options;
  std::string describe() const { return strategy->name() + " " + to_string(degrees) + " " + to_string(options); }
};
inline std::vector<Choice> choices_for(const Problem& problem) {
  std::vector<Choice> choices;
  for (const Strategy* strategy : all_strategies()) {
    if (!strategy->serves(problem.shape.kind)) continue;
    for (const Degrees& degrees : strategy->degrees(problem)) {
      std::vector<StrategyOptions> tried = strategy->variants(problem, degrees);
      const std::vector<StrategyOptions> refined = strategy->refinements(problem, degrees, tried.front());
      tried.insert(tried.end(), refined.begin(), refined.end());
      for (const StrategyOptions& options : tried) choices.push_back({strategy, degrees, options});
    }
  }
  return choices;
}

}  // namespace hsap::test
