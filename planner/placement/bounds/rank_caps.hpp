// What a rank may hold at most, which every bound on volume starts from, and what causal rows cost. A row (query position) i of
// a document, counted from 0, costs i + 1 pairs and `pairs_per_token` for its token. Row positions are real numbers here: a
// bound may cut inside a row.
#pragma once

#include <limits>
#include <vector>

#include "planner/ir/document_mask.hpp"

namespace hsap {

/// Either cap may be infinite. For unequal ranks give the largest caps: the bounds then stay bounds.
struct RankCaps {
  double tokens = std::numeric_limits<double>::infinity();
  double cost = std::numeric_limits<double>::infinity();  ///< in pairs
  double pairs_per_token = 0;

  /// What `ranks` ranks may hold together.
  RankCaps of(int ranks) const { return {tokens * ranks, cost * ranks, pairs_per_token}; }
  /// A document that one rank may not hold whole.
  bool must_cut(double length) const { return length > tokens || rows_cost(length) > cost; }

  /// Cost of the rows [0, x) of a document.
  double rows_cost(double x) const { return x * (x + 1) / 2 + pairs_per_token * x; }
  /// The x >= 0 for which rows [x, length) cost `tail`; 0 when all cost less.
  double tail_begin(double length, double tail) const;
};

/// Caps of each of `ranks` ranks that hold documents of these lengths: `token_cap` times the mean of tokens (infinite = no
/// cap), (1 + cost_slack) times the mean of cost. Throws InvalidInput when ranks < 1, a length < 1, token_cap < 1, or
/// cost_slack or pairs_per_token is negative or not a number.
RankCaps rank_caps(const std::vector<Token>& lengths, int ranks, double token_cap, double cost_slack, double pairs_per_token);

/// (query, key) pairs of causal documents, L (L + 1) / 2 each; exact to double precision.
double causal_pairs(const std::vector<Token>& lengths);
/// Tokens of all documents.
double total_tokens(const std::vector<Token>& lengths);
/// Lengths of the documents of a mask.
std::vector<Token> lengths_of(const DocumentMask& mask);

}  // namespace hsap
