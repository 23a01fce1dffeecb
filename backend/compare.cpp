#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "backend/reference.hpp"
#include "backend/reference_row.hpp"
#include "backend/tensors.hpp"
#include "planner/ir/errors.hpp"

namespace hsap {

namespace {

/// Gathers |result - reference| and |reference| of one tensor.
class ErrorOf {
 public:
  void add(double result, double reference) {
    const double difference = std::abs(result - reference);
    largest_error_ = std::max(largest_error_, std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference);
    largest_reference_ = std::max(largest_reference_, std::abs(reference));
  }
  void add_row(const float* results, const std::vector<double>& reference) {
    for (std::size_t i = 0; i < reference.size(); ++i) add(static_cast<double>(results[i]), reference[i]);
  }
  double relative() const { return largest_error_ / (largest_reference_ > 0 ? largest_reference_ : 1); }

 private:
  double largest_error_ = 0;
  double largest_reference_ = 0;
};

double error_of(const std::string& name, const HostTensor& result, const HostTensor& reference) {
  if (result.tokens != reference.tokens || result.heads != reference.heads || result.width != reference.width ||
      result.values.size() != reference.values.size())
    throw InvalidInput("comparing " + name + ": found " + std::to_string(result.values.size()) + " values, expected the " +
                       std::to_string(reference.values.size()) + " of the reference in the same shape");
  ErrorOf error;
  for (std::size_t i = 0; i < result.values.size(); ++i)
    error.add(static_cast<double>(result.values[i]), static_cast<double>(reference.values[i]));
  return error.relative();
}

/// Checks single rows against the oracle and counts the pairs that it spent.
class Sampler {
 public:
  Sampler(const AttentionShape& shape, const DocumentMask& mask, const LayerInputs& inputs, const LayerResults& results,
          std::uint64_t seed)
      : shape_(shape), mask_(mask), inputs_(inputs), results_(results), random_(seed) {}

  void check_query_rows(double pair_budget) {
    double spent = 0;
    do {
      const Token query = below(mask_.tokens());
      const int head = static_cast<int>(below(shape_.query_heads));
      check_query_row(query, head);
      spent += static_cast<double>(mask_.visible_keys(query).size());
    } while (spent < pair_budget);
  }

  void check_key_rows(double pair_budget) {
    constexpr double kRows = 16;  // a single row may take this part of the budget: a few long ones and many short ones are seen
    double spent = 0;
    do {
      Token key = below(mask_.tokens());
      const Token end = mask_.document(mask_.document_of(key)).end;
      while (key + 1 < end && pairs_behind(key) > pair_budget / kRows) key += (end - key) / 2;
      check_key_row(key, static_cast<int>(below(shape_.kv_heads)));
      spent += pairs_behind(key);
    } while (spent < pair_budget);
  }

  RelativeErrors errors() const {
    return {o_.relative(), d_q_.relative(), d_k_.relative(), d_v_.relative(),
            "sampled: " + part_of(query_rows_.size(), shape_.query_heads) + " rows x heads of O and dQ, " +
                part_of(key_rows_.size(), shape_.kv_heads) + " of dK and dV"};
  }

 private:
  /// "16 of 32320": of all tokens x heads.
  std::string part_of(std::size_t checked, int heads) const {
    return std::to_string(checked) + " of " + std::to_string(mask_.tokens() * heads);
  }

  Token below(Token count) { return static_cast<Token>(random_() % static_cast<std::uint64_t>(count)); }

  TokenRange queries_seeing(Token key) const {
    const TokenSet queries = mask_.queries_seeing(TokenSet{{key, key + 1}});
    return queries.ranges().front();
  }

  /// Pairs that the oracle must visit for one key row: the whole rows of all queries that see it, of every head of the group.
  double pairs_behind(Token key) const {
    const TokenRange document = mask_.document(mask_.document_of(key));
    const std::int64_t pairs = mask_.pairs(mask_.queries_seeing(TokenSet{{key, key + 1}}), TokenSet{document});
    return shape_.queries_per_kv_head() * static_cast<double>(pairs);
  }

  void check_query_row(Token query, int head) {
    const int kv_head = head / shape_.queries_per_kv_head();
    const ReferenceRow row = reference_row(shape_, mask_, inputs_, query, head);
    std::vector<double> o(static_cast<std::size_t>(shape_.v_dim));
    std::vector<double> d_q(static_cast<std::size_t>(shape_.qk_dim));
    for (std::size_t i = 0; i < row.keys.size(); ++i) {
      add_scaled(row.weight[i], row_of(inputs_.v, row.keys[i], kv_head), shape_.v_dim, o.data());
      add_scaled(row.d_score[i], row_of(inputs_.k, row.keys[i], kv_head), shape_.qk_dim, d_q.data());
    }
    o_.add_row(row_of(results_.o, query, head), o);
    d_q_.add_row(row_of(results_.d_q, query, head), d_q);
    query_rows_.emplace(query, head);
  }

  void check_key_row(Token key, int kv_head) {
    std::vector<double> d_k(static_cast<std::size_t>(shape_.qk_dim));
    std::vector<double> d_v(static_cast<std::size_t>(shape_.v_dim));
    const TokenRange queries = queries_seeing(key);
    for (int head = kv_head * shape_.queries_per_kv_head(); head < (kv_head + 1) * shape_.queries_per_kv_head(); ++head) {
      for (Token query = queries.begin; query < queries.end; ++query) {
        const ReferenceRow row = reference_row(shape_, mask_, inputs_, query, head);
        const auto place = std::lower_bound(row.keys.begin(), row.keys.end(), key);
        const auto i = static_cast<std::size_t>(place - row.keys.begin());
        add_scaled(row.weight[i], row_of(inputs_.d_o, query, head), shape_.v_dim, d_v.data());
        add_scaled(row.d_score[i], row_of(inputs_.q, query, head), shape_.qk_dim, d_k.data());
      }
    }
    d_k_.add_row(row_of(results_.d_k, key, kv_head), d_k);
    d_v_.add_row(row_of(results_.d_v, key, kv_head), d_v);
    key_rows_.emplace(key, kv_head);
  }

  const AttentionShape& shape_;
  const DocumentMask& mask_;
  const LayerInputs& inputs_;
  const LayerResults& results_;
  std::mt19937_64 random_;
  ErrorOf o_, d_q_, d_k_, d_v_;
  std::set<std::pair<Token, int>> query_rows_;  // with the query head
  std::set<std::pair<Token, int>> key_rows_;    // with the kv head
};

}  // namespace

double RelativeErrors::largest() const { return std::max({o, d_q, d_k, d_v}); }

RelativeErrors compare_all(const LayerResults& results, const LayerResults& reference) {
  return {error_of("o", results.o, reference.o), error_of("d_q", results.d_q, reference.d_q),
          error_of("d_k", results.d_k, reference.d_k), error_of("d_v", results.d_v, reference.d_v), "all rows"};
}

RelativeErrors compare_sampled(const AttentionShape& shape, const DocumentMask& mask, const LayerInputs& inputs,
                               const LayerResults& results, double pair_budget, std::uint64_t seed) {
  if (static_cast<double>(mask.pairs()) * shape.query_heads <= pair_budget)
    return compare_all(results, reference_attention(shape, mask, inputs));
  check_inputs(shape, mask.tokens(), inputs);
  check_results(shape, mask.tokens(), results);
  Sampler sampler(shape, mask, inputs, results, seed);
  sampler.check_query_rows(pair_budget / 2);
  sampler.check_key_rows(pair_budget / 2);
  return sampler.errors();
}

}  // namespace hsap
