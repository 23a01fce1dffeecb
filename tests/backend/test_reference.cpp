// The oracle itself: numbers worked by hand, finite differences, and that comparing with it notices errors.
#include <catch2/catch.hpp>
#include <cmath>

#include "backend/reference.hpp"
#include "backend/tensors.hpp"
#include "planner/ir/errors.hpp"
#include "tests/backend/pairwise.hpp"
#include "tests/backend/random_problem.hpp"

using namespace hsap;

namespace {

AttentionShape shape_of(AttentionKind kind, int query_heads, int kv_heads, int qk_dim, int v_dim) {
  AttentionShape shape;
  shape.kind = kind;
  shape.query_heads = query_heads;
  shape.kv_heads = kv_heads;
  shape.qk_dim = qk_dim;
  shape.v_dim = v_dim;
  return shape;
}

/// Two tokens of one document, one head, widths 1: q = 0, so the second query weighs both keys with 1/2.
LayerInputs two_tokens() { return {{2, 1, 1, {0, 0}}, {2, 1, 1, {3, 5}}, {2, 1, 1, {2, 6}}, {2, 1, 1, {1, 1}}}; }

/// sum of d_o times o: the number whose gradient backward computes.
double loss(const AttentionShape& shape, const DocumentMask& mask, const LayerInputs& inputs) {
  const LayerResults results = reference_attention(shape, mask, inputs);
  double sum = 0;
  for (std::size_t i = 0; i < results.o.values.size(); ++i)
    sum += static_cast<double>(results.o.values[i]) * static_cast<double>(inputs.d_o.values[i]);
  return sum;
}

double finite_difference(const AttentionShape& shape, const DocumentMask& mask, LayerInputs inputs,
                         HostTensor LayerInputs::*tensor, std::size_t element) {
  constexpr float kStep = 1.0f / 64;
  const float value = (inputs.*tensor).values[element];
  (inputs.*tensor).values[element] = value + kStep;
  const double above = loss(shape, mask, inputs);
  (inputs.*tensor).values[element] = value - kStep;
  const double below = loss(shape, mask, inputs);
  return (above - below) / (2 * static_cast<double>(kStep));
}

}  // namespace

TEST_CASE("reference: softmax attention of two tokens equals the numbers worked by hand") {
  const LayerResults results =
      reference_attention(shape_of(AttentionKind::softmax, 1, 1, 1, 1), DocumentMask({0, 2}), two_tokens());
  // o_0 = v_0 = 2, o_1 = (2 + 6) / 2 = 4. d_s of query 1: 1/2 (2 - 4), 1/2 (6 - 4) = -1, 1; d_q_1 = -1 * 3 + 1 * 5 = 2.
  CHECK(results.o.values == std::vector<float>{2, 4});
  CHECK(results.d_q.values == std::vector<float>{0, 2});
  CHECK(results.d_k.values == std::vector<float>{0, 0});        // d_s q with q = 0
  CHECK(results.d_v.values == std::vector<float>{1.5f, 0.5f});  // 1 + 1/2, 1/2
}

TEST_CASE("reference: linear attention of two tokens equals the numbers worked by hand") {
  LayerInputs inputs = two_tokens();
  inputs.q.values = {1, 10};
  const LayerResults results = reference_attention(shape_of(AttentionKind::linear, 1, 1, 1, 1), DocumentMask({0, 2}), inputs);
  CHECK(results.o.values == std::vector<float>{3 * 2, 10 * (3 * 2 + 5 * 6)});
  CHECK(results.d_q.values == std::vector<float>{2 * 3, 2 * 3 + 6 * 5});
  CHECK(results.d_k.values == std::vector<float>{2 * 1 + 2 * 10, 6 * 10});
  CHECK(results.d_v.values == std::vector<float>{3 * 1 + 3 * 10, 5 * 10});
}

TEST_CASE("reference: decay halves what is a token away, at the rate that the head's slope gives") {
  LayerInputs inputs = two_tokens();
  inputs.q.values = {1, 10};
  AttentionShape shape = shape_of(AttentionKind::linear, 1, 1, 1, 1);
  shape.decay = 256 * std::log(2.0);  // one kv head: rate = decay 2^-8
  const LayerResults results = reference_attention(shape, DocumentMask({0, 2}), inputs);
  const auto check = [](const HostTensor& found, float first, float second) {
    CHECK(found.values[0] == Approx(first));
    CHECK(found.values[1] == Approx(second));
  };
  check(results.o, 3 * 2, 10 * (3 * 2 / 2.0f + 5 * 6));
  check(results.d_q, 2 * 3, 2 * 3 / 2.0f + 6 * 5);
  check(results.d_k, 2 * 1 + 2 * 10 / 2.0f, 6 * 10);
  check(results.d_v, 3 * 1 + 3 * 10 / 2.0f, 5 * 10);

  shape.kv_heads = shape.query_heads = 4;
  shape.decay = 2;
  CHECK(decay_rate(shape, 0) == Approx(2 * 0.25));
  CHECK(decay_rate(shape, 3) == Approx(2 / 256.0));
}

TEST_CASE("reference: documents do not see each other, and a window of one token is the token itself") {
  const AttentionShape shape = shape_of(AttentionKind::softmax, 1, 1, 1, 1);
  for (const DocumentMask& mask : {DocumentMask({0, 1, 2}), DocumentMask({0, 2}, window_rule(1))}) {
    const LayerResults results = reference_attention(shape, mask, two_tokens());
    CHECK(results.o.values == std::vector<float>{2, 6});
    CHECK(results.d_q.values == std::vector<float>{0, 0});
    CHECK(results.d_v.values == std::vector<float>{1, 1});
  }
}

TEST_CASE("reference: query head h reads key/value head h / group") {
  LayerInputs inputs{{1, 4, 1, {0, 0, 0, 0}}, {1, 2, 1, {0, 0}}, {1, 2, 1, {7, 9}}, {1, 4, 1, {1, 2, 3, 4}}};
  const LayerResults results = reference_attention(shape_of(AttentionKind::softmax, 4, 2, 1, 1), DocumentMask({0, 1}), inputs);
  CHECK(results.o.values == std::vector<float>{7, 7, 9, 9});
  CHECK(results.d_v.values == std::vector<float>{3, 7});
}

TEST_CASE("reference: gradients equal finite differences, under every mask rule and decay") {
  for (const double decay : {-1.0, 0.0, 2.0}) {  // -1: softmax
    for (int rule = 0; rule < (decay > 0 ? 1 : test::kRuleKinds); ++rule) {
      const AttentionKind kind = decay < 0 ? AttentionKind::softmax : AttentionKind::linear;
      AttentionShape shape = shape_of(kind, 4, 2, 3, 2);
      shape.decay = std::max(decay, 0.0);
      const DocumentMask mask({0, 1, 6, 8}, test::rule_of_kind(rule, 1, 3, 1));
      const LayerInputs inputs = random_inputs(shape, mask.tokens(), 5);
      const LayerResults results = reference_attention(shape, mask, inputs);
      const auto check = [&](HostTensor LayerInputs::*input, const HostTensor& gradient) {
        for (std::size_t i = 0; i < gradient.values.size(); ++i) {
          CAPTURE(decay, to_string(mask.rule()), i);
          // steps of 1/64 and fp32 results: 1e-3 is what central differences can promise
          CHECK(static_cast<double>(gradient.values[i]) ==
                Approx(finite_difference(shape, mask, inputs, input, i)).margin(2e-3));
        }
      };
      check(&LayerInputs::q, results.d_q);
      check(&LayerInputs::k, results.d_k);
      check(&LayerInputs::v, results.d_v);
    }
  }
}

TEST_CASE("reference: shapes that do not fit and values that are not finite are refused by name") {
  const AttentionShape shape = shape_of(AttentionKind::softmax, 1, 1, 1, 1);
  CHECK_THROWS_WITH(reference_attention(shape, DocumentMask({0, 3}), two_tokens()),
                    Catch::Contains("input q") && Catch::Contains("[2, 1, 1]") && Catch::Contains("[3, 1, 1]"));
  LayerInputs inputs = two_tokens();
  inputs.v.values[1] = std::nanf("");
  CHECK_THROWS_WITH(reference_attention(shape, DocumentMask({0, 2}), inputs),
                    Catch::Contains("input v") && Catch::Contains("token 1, head 0"));
}

TEST_CASE("random inputs: the same bits for a seed, mean 0 and variance 1, different tensors and seeds differ") {
  const AttentionShape shape = shape_of(AttentionKind::softmax, 4, 4, 16, 16);
  const LayerInputs inputs = random_inputs(shape, 500, 1);
  CHECK(inputs.q.values == random_inputs(shape, 500, 1).q.values);
  CHECK(inputs.q.values != random_inputs(shape, 500, 2).q.values);
  CHECK(inputs.q.values != inputs.k.values);
  double sum = 0;
  double squares = 0;
  for (const float value : inputs.q.values) {
    sum += static_cast<double>(value);
    squares += static_cast<double>(value) * static_cast<double>(value);
  }
  const double count = static_cast<double>(inputs.q.values.size());
  CHECK(sum / count == Approx(0).margin(5 / std::sqrt(count)));
  CHECK(squares / count == Approx(1).margin(5 * std::sqrt(2 / count)));
}

TEST_CASE("compare_all: names the tensor that is wrong and never lets NaN pass") {
  const AttentionShape shape = shape_of(AttentionKind::softmax, 2, 1, 4, 4);
  const DocumentMask mask({0, 5, 9});
  const LayerResults reference = reference_attention(shape, mask, random_inputs(shape, 9, 3));
  CHECK(compare_all(reference, reference).largest() == 0);
  CHECK(compare_all(reference, reference).coverage == "all rows");
  LayerResults wrong = reference;
  wrong.d_k.values[7] += 1e-3f;
  CHECK(compare_all(wrong, reference).d_k > 1e-5);
  CHECK(compare_all(wrong, reference).d_v == 0);
  wrong.o.values[0] = std::nanf("");
  CHECK(std::isinf(compare_all(wrong, reference).largest()));
  wrong.o.values.pop_back();
  CHECK_THROWS_AS(compare_all(wrong, reference), InvalidInput);
}

TEST_CASE("compare_sampled: checks all rows within the budget, else agrees on samples and notices errors in every tensor") {
  Random random(7);
  const AttentionShape shape = shape_of(AttentionKind::softmax, 4, 2, 8, 8);
  const DocumentMask mask = random_mask(random, 400, false);
  const LayerInputs inputs = random_inputs(shape, 400, 3);
  const LayerResults right = reference_attention(shape, mask, inputs);
  const double all = static_cast<double>(mask.pairs()) * 4;
  CHECK(compare_sampled(shape, mask, inputs, right, all, 1).coverage == "all rows");

  const RelativeErrors sampled = compare_sampled(shape, mask, inputs, right, all / 4, 1);
  INFO(sampled.coverage);
  CHECK(sampled.largest() < 1e-6);  // fp32 rounding of the right results
  CHECK_THAT(sampled.coverage, Catch::Contains("sampled: ") && Catch::Contains(" of 1600 rows x heads of O and dQ"));

  const auto error_when_scaled = [&](HostTensor LayerResults::*tensor) {
    LayerResults wrong = right;
    for (float& value : (wrong.*tensor).values) value *= 1.001f;
    return compare_sampled(shape, mask, inputs, wrong, all / 4, 1).largest();
  };
  CHECK(error_when_scaled(&LayerResults::o) > 5e-4);
  CHECK(error_when_scaled(&LayerResults::d_q) > 5e-4);
  CHECK(error_when_scaled(&LayerResults::d_k) > 5e-4);
  CHECK(error_when_scaled(&LayerResults::d_v) > 5e-4);
}

TEST_CASE(
    "compare_sampled: samples agree under every mask rule, and an error in one row of many is noticed where it is sampled") {
  const AttentionShape shape = shape_of(AttentionKind::softmax, 2, 1, 4, 4);
  for (int rule = 0; rule < test::kRuleKinds; ++rule) {
    const DocumentMask mask({0, 3, 150, 300}, test::rule_of_kind(rule, 9, 40, 3));
    CAPTURE(to_string(mask.rule()));
    const LayerInputs inputs = random_inputs(shape, 300, 3);
    LayerResults results = reference_attention(shape, mask, inputs);
    const double budget = static_cast<double>(mask.pairs()) / 2;
    const RelativeErrors sampled = compare_sampled(shape, mask, inputs, results, budget, 1);
    CHECK_THAT(sampled.coverage, Catch::StartsWith("sampled: "));
    CHECK(sampled.largest() < 1e-6);
    for (float& value : results.d_k.values) value *= 1.001f;
    CHECK(compare_sampled(shape, mask, inputs, results, budget, 1).d_k > 5e-4);
  }
}

TEST_CASE("compare_sampled: keeps to its budget on one long document") {
  const AttentionShape shape = shape_of(AttentionKind::softmax, 2, 1, 1, 1);
  const Token tokens = 20'000;  // 400 million pairs over two heads
  const DocumentMask mask({0, tokens});
  LayerInputs inputs = random_inputs(shape, tokens, 3);
  LayerResults results{make_tensor(tokens, 2, 1), make_tensor(tokens, 2, 1), make_tensor(tokens, 1, 1),
                       make_tensor(tokens, 1, 1)};
  const RelativeErrors errors = compare_sampled(shape, mask, inputs, results, 1e6, 1);
  INFO(errors.coverage);
  CHECK(errors.o == 1);  // zeros against anything
  CHECK_THAT(errors.coverage, Catch::Contains("rows x heads of O and dQ"));
}
