#include "planner/placement/bounds/rank_caps.hpp"

#include <cmath>
#include <string>

#include "planner/ir/errors.hpp"

namespace hsap {

namespace {

void check(const std::vector<Token>& lengths, int ranks, double token_cap, double cost_slack, double pairs_per_token) {
  const auto refuse = [](const std::string& what, const std::string& found, const std::string& expected) {
    throw InvalidInput("lower bounds: " + what + " is " + found + ", expected " + expected);
  };
  if (ranks < 1) refuse("the number of ranks", std::to_string(ranks), "at least 1");
  for (const Token length : lengths)
    if (length < 1) refuse("a document's length", std::to_string(length), "at least 1 token");
  if (!(token_cap >= 1))
    refuse("token_cap", std::to_string(token_cap), "at least 1: with less, the ranks cannot hold all tokens");
  if (!(cost_slack >= 0))
    refuse("cost_slack", std::to_string(cost_slack), "at least 0: with less, the ranks cannot do all work");
  if (!(pairs_per_token >= 0) || std::isinf(pairs_per_token))
    refuse("pairs_per_token", std::to_string(pairs_per_token), "a finite number from 0 on");
}

}  // namespace

double RankCaps::tail_begin(double length, double tail) const {
  const double rest = rows_cost(length) - tail;  // of the rows below x: x^2 / 2 + h x = rest
  if (!(rest > 0)) return 0;
  const double h = pairs_per_token + 0.5;
  return 2 * rest / (h + std::sqrt(h * h + 2 * rest));
}

RankCaps rank_caps(const std::vector<Token>& lengths, int ranks, double token_cap, double cost_slack, double pairs_per_token) {
  check(lengths, ranks, token_cap, cost_slack, pairs_per_token);
  RankCaps caps{.pairs_per_token = pairs_per_token};
  if (lengths.empty()) return caps;
  const double tokens = total_tokens(lengths);
  caps.tokens = token_cap * tokens / ranks;
  caps.cost = (1 + cost_slack) * (causal_pairs(lengths) + pairs_per_token * tokens) / ranks;
  return caps;
}

double causal_pairs(const std::vector<Token>& lengths) {
  double pairs = 0;
  for (const Token length : lengths) pairs += static_cast<double>(length) * static_cast<double>(length + 1) / 2;
  return pairs;
}

double total_tokens(const std::vector<Token>& lengths) {
  double tokens = 0;
  for (const Token length : lengths) tokens += static_cast<double>(length);
  return tokens;
}

std::vector<Token> lengths_of(const DocumentMask& mask) {
  std::vector<Token> lengths;
  lengths.reserve(mask.documents());
  for (std::size_t document = 0; document < mask.documents(); ++document) lengths.push_back(mask.document(document).size());
  return lengths;
}

}  // namespace hsap
