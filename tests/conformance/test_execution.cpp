// Every strategy, executed on CPU ranks, equals the double-precision oracle, forward and backward, and passes verify().
#include <catch2/catch.hpp>

#include <algorithm>

#include "backend/reference.hpp"
#include "planner/ir/verify.hpp"
#include "tests/conformance/problems.hpp"

namespace hsap {
namespace {

constexpr double kTolerance = 1e-5;  // fp32 against double on a few hundred tokens

AttentionShape small_shape(AttentionKind kind, int query_heads, int kv_heads) {
  return {.kind = kind,
          .query_heads = query_heads,
          .kv_heads = kv_heads,
          .qk_dim = 12,
          .v_dim = 8,
          .dtype = DType::bf16,
          .window = {}};
}

void require_equal_to_oracle(const AttentionShape& shape, const std::vector<Token>& offsets, int ranks, int per_node) {
  const Problem problem = test::problem_on(shape, offsets, ranks, per_node);
  const LayerInputs inputs = random_inputs(shape, problem.mask.tokens(), 7);
  const LayerResults reference = reference_attention(shape, problem.mask, inputs);
  for (const test::Choice& choice : test::choices_for(problem)) {
    INFO(choice.describe() << " on " << ranks << " ranks, " << problem.mask.documents() << " documents, "
                           << problem.mask.tokens() << " tokens");
    const Schedule schedule = choice.strategy->lower(problem, choice.degrees, choice.options);
    REQUIRE_NOTHROW(verify(schedule, problem.mask));
    const RelativeErrors errors = compare_all(execute_on_cpu(schedule, inputs).results, reference);
    CAPTURE(errors.o, errors.d_q, errors.d_k, errors.d_v);
    REQUIRE(errors.largest() < kTolerance);
  }
}

/// Heads that the ranks can share: 3 ranks need a multiple of 3.
std::pair<int, int> heads_for(int ranks) { return ranks % 3 == 0 ? std::pair{6, 3} : std::pair{8, 2}; }

TEST_CASE("every strategy equals the oracle on packings where something usually goes wrong") {
  const int ranks = GENERATE(1, 2, 3, 4, 8);
  const auto kind = GENERATE(AttentionKind::softmax, AttentionKind::linear);
  const auto [query_heads, kv_heads] = heads_for(ranks);
  for (const test::NamedPacking& packing : test::hard_packings()) {
    INFO(packing.name);
    require_equal_to_oracle(small_shape(kind, query_heads, kv_heads), packing.offsets, ranks, std::max(1, ranks / 2));
  }
}

TEST_CASE("every strategy equals the oracle on random packings") {
  const int ranks = GENERATE(2, 3, 4, 8);
  const auto kind = GENERATE(AttentionKind::softmax, AttentionKind::linear);
  const std::uint64_t seed = GENERATE(11, 12, 13);
  CAPTURE(seed);
  const auto [query_heads, kv_heads] = heads_for(ranks);
  require_equal_to_oracle(small_shape(kind, query_heads, kv_heads), test::random_offsets(seed, 160), ranks,
                          ranks == 8 ? 4 : ranks);
}

TEST_CASE("every strategy equals the oracle on 5, 6 and 16 ranks") {
  const int ranks = GENERATE(5, 6, 16);
  const auto kind = GENERATE(AttentionKind::softmax, AttentionKind::linear);
  const auto [query_heads, kv_heads] = heads_for(ranks);
  const std::uint64_t seed = 14;
  CAPTURE(seed);
  for (const std::vector<Token>& offsets : {test::random_offsets(seed, 160), test::offsets_of({101})})
    require_equal_to_oracle(small_shape(kind, query_heads, kv_heads), offsets, ranks, ranks == 16 ? 8 : 3);
}

TEST_CASE("every strategy equals the oracle with multi-head, multi-query and sliding-window attention") {
  const int ranks = GENERATE(2, 4);
  const std::uint64_t seed = 21;
  CAPTURE(seed);
  AttentionShape shape = small_shape(AttentionKind::softmax, 4, GENERATE(1, 4));
  shape.window = GENERATE(std::optional<Token>{}, std::optional<Token>{1}, std::optional<Token>{9});
  require_equal_to_oracle(shape, test::random_offsets(seed, 120), ranks, 2);
}

TEST_CASE("every strategy works when nodes are uneven") {
  require_equal_to_oracle(small_shape(AttentionKind::softmax, 8, 4), test::random_offsets(31, 120), 4, 3);
}

/// Rows of `document` in a tensor, as one block of floats.
std::vector<float> rows_of(const HostTensor& tensor, TokenRange document) {
  const auto row = static_cast<std::ptrdiff_t>(tensor.heads) * tensor.width;
  return {tensor.values.begin() + document.begin * row, tensor.values.begin() + document.end * row};
}

TEST_CASE("a document's results do not change when another document's values change") {
  const auto kind = GENERATE(AttentionKind::softmax, AttentionKind::linear);
  const AttentionShape shape = small_shape(kind, 8, 2);
  const Problem problem = test::problem_on(shape, test::random_offsets(41, 120), 4, 2);
  const std::size_t changed = problem.mask.documents() / 2;
  LayerInputs inputs = random_inputs(shape, problem.mask.tokens(), 1);
  for (const test::Choice& choice : test::choices_for(problem)) {
    INFO(choice.describe());
    const Schedule schedule = choice.strategy->lower(problem, choice.degrees, choice.options);
    LayerInputs other = inputs;
    const TokenRange document = problem.mask.document(changed);
    for (HostTensor* tensor : {&other.q, &other.k, &other.v, &other.d_o}) {
      const auto row = static_cast<std::ptrdiff_t>(tensor->heads) * tensor->width;
      std::for_each(tensor->values.begin() + document.begin * row, tensor->values.begin() + document.end * row,
                    [](float& value) { value = 3.0F - value; });
    }
    const LayerResults before = execute_on_cpu(schedule, inputs).results;
    const LayerResults after = execute_on_cpu(schedule, other).results;
    for (const auto tensor : {&LayerResults::o, &LayerResults::d_q, &LayerResults::d_k, &LayerResults::d_v}) {
      REQUIRE(rows_of(before.*tensor, document) != rows_of(after.*tensor, document));
      for (std::size_t d = 0; d < problem.mask.documents(); ++d) {
        if (d == changed) continue;
        REQUIRE(rows_of(before.*tensor, problem.mask.document(d)) == rows_of(after.*tensor, problem.mask.document(d)));
      }
    }
  }
}

}  // namespace
}  // namespace hsap
