// Every strategy, executed on CPU ranks, equals the double-precision oracle, forward and backward, and passes verify().
#include <catch2/catch.hpp>

#include <algorithm>
#include <tuple>

#include "tests/conformance/oracle.hpp"
#include "tests/mask_rules.hpp"

namespace hsap {
namespace {

AttentionShape small_shape(AttentionKind kind, int query_heads, int kv_heads, double decay = 0) {
  return {.kind = kind,
          .query_heads = query_heads,
          .kv_heads = kv_heads,
          .qk_dim = 12,
          .v_dim = 8,
          .dtype = DType::bf16,
          .mask = {},
          .decay = decay};
}

/// Kinds of attention, linear attention without decay and with, as fast as Lightning Attention's first layer forgets.
using Kind = std::pair<AttentionKind, double>;
const std::vector<Kind> kKinds{{AttentionKind::softmax, 0}, {AttentionKind::linear, 0}, {AttentionKind::linear, 1}};

using test::require_equal_to_oracle;

using test::heads_for;

TEST_CASE("every strategy equals the oracle on packings where something usually goes wrong") {
  const int ranks = GENERATE(1, 2, 3, 4, 6, 8);
  const auto [kind, decay] = GENERATE(from_range(kKinds));
  const auto [query_heads, kv_heads] = heads_for(ranks);
  for (const test::NamedPacking& packing : test::hard_packings()) {
    INFO(packing.name);
    require_equal_to_oracle(small_shape(kind, query_heads, kv_heads, decay), packing.offsets, ranks, std::max(1, ranks / 2));
  }
}

TEST_CASE("every strategy equals the oracle on random packings") {
  const int ranks = GENERATE(2, 3, 4, 6, 8);
  const auto [kind, decay] = GENERATE(from_range(kKinds));
  const std::uint64_t seed = GENERATE(11, 12, 13);
  CAPTURE(seed);
  const auto [query_heads, kv_heads] = heads_for(ranks);
  require_equal_to_oracle(small_shape(kind, query_heads, kv_heads, decay), test::random_offsets(seed, 160), ranks,
                          ranks == 8 ? 4 : ranks);
}

TEST_CASE("every strategy equals the oracle on 5, 6 and 16 ranks") {
  const int ranks = GENERATE(5, 6, 16);
  const auto [kind, decay] = GENERATE(from_range(kKinds));
  const auto [query_heads, kv_heads] = heads_for(ranks);
  const std::uint64_t seed = 14;
  CAPTURE(seed);
  for (const std::vector<Token>& offsets : {test::random_offsets(seed, 160), test::offsets_of({101})})
    require_equal_to_oracle(small_shape(kind, query_heads, kv_heads, decay), offsets, ranks, ranks == 16 ? 8 : 3);
}

TEST_CASE("every strategy equals the oracle under every mask rule") {
  const int ranks = GENERATE(1, 2, 3, 4);
  const int rule = GENERATE(range(0, test::kRuleKinds));
  const std::uint64_t seed = GENERATE(51, 52);
  // multi-head, grouped-query and multi-query attention by turns
  const int kv_heads = std::vector{12, 3, 1}[static_cast<std::size_t>(rule + ranks) % 3];
  std::mt19937_64 random(seed + static_cast<std::uint64_t>(ranks));
  const auto length = [&](Token longest) { return 1 + static_cast<Token>(random() % static_cast<std::uint64_t>(longest)); };
  AttentionShape shape = small_shape(AttentionKind::softmax, 12, kv_heads);
  const Token near = length(20), far = length(60), sinks = length(6);
  shape.mask = test::rule_of_kind(rule, near, far, sinks);
  CAPTURE(seed, to_string(shape.mask), kv_heads);
  require_equal_to_oracle(shape, test::random_offsets(seed, 160), ranks, 2);
  require_equal_to_oracle(shape, test::offsets_of({1, 97, 3}), ranks, 2);
}

TEST_CASE("every strategy equals the oracle when a query sees only itself, and when every rule reaches past the documents") {
  const int ranks = GENERATE(2, 4);
  AttentionShape shape = small_shape(AttentionKind::softmax, 8, GENERATE(1, 8));
  const std::string rule = GENERATE(as<std::string>{}, "window:1", "blocks:1", "blocks:1,sinks:1", "window:5000,9000",
                                    "window:2,sinks:5000", "blocks:5000", "prefix:5000", "ahead:5000");
  CAPTURE(rule);
  shape.mask = parse_mask_rule(rule);
  require_equal_to_oracle(shape, test::random_offsets(21, 120), ranks, 2);
}

TEST_CASE("every strategy equals the oracle where decay leaves nothing of a long document's beginning") {
  // exp(-0.5 x 1500) is 0 in fp32; a kernel that divides by it, or scales by its inverse, gives no number at all.
  const double decay = GENERATE(1.0, 128.0);
  require_equal_to_oracle(small_shape(AttentionKind::linear, 4, 1, decay), test::offsets_of({5, 1500, 31}), 4, 2);
}

TEST_CASE("every strategy works when nodes are uneven") {
  require_equal_to_oracle(small_shape(AttentionKind::softmax, 8, 4), test::random_offsets(31, 120), 4, 3);
}

TEST_CASE("every strategy equals the oracle with every value of the options it has") {
  const std::uint64_t seed = GENERATE(52, 54);
  CAPTURE(seed);
  const Problem problem = test::problem_on(small_shape(AttentionKind::softmax, 8, 4), test::random_offsets(seed, 120), 4, 2);
  const std::vector<std::pair<std::string, std::vector<std::string>>> values{
      {"stages", {"1", "3"}},
      {"window", {"1", "2"}},
      {"block", {"1", "7", "64"}},
      {"dkv-dtype", {"fp32", "bf16"}},
      {"kv", {"kept", "again"}},
      {"moving", {"kv", "q", "cheaper", "balanced", "tiles"}},
      {"exchange", {"direct", "hierarchical", "rounds", "joined"}}};
  std::vector<test::Choice> choices;
  for (const OptionField& field : option_fields()) {
    const auto tried = std::find_if(values.begin(), values.end(), [&](const auto& v) { return v.first == field.name; });
    if (tried == values.end()) continue;  // placement: the variants have them all
    for (const Strategy* strategy : all_strategies()) {
      const std::vector<std::string> known = strategy->options();
      if (std::find(known.begin(), known.end(), field.name) == known.end()) continue;
      for (const std::string& value : tried->second) {
        StrategyOptions options;
        field.set(options, value);
        if (strategy->serves(AttentionKind::softmax))
          choices.push_back({strategy, strategy->degrees(problem).front(), options});
      }
    }
  }
  require_equal_to_oracle(problem, choices);
}

TEST_CASE("head-parallel strategies equal the oracle with ragged heads: any degree up to the query heads") {
  const auto [query_heads, kv_heads, ranks] = GENERATE(std::tuple(7, 1, 2), std::tuple(7, 7, 3), std::tuple(14, 2, 4),
                                                       std::tuple(10, 5, 6), std::tuple(28, 4, 8), std::tuple(6, 3, 4));
  CAPTURE(query_heads, kv_heads, ranks);
  Problem problem =
      test::problem_on(small_shape(AttentionKind::softmax, query_heads, kv_heads), test::random_offsets(61, 60), ranks, ranks);
  problem.ragged_heads = true;
  std::vector<test::Choice> choices = test::choices_for(problem);
  std::erase_if(choices, [](const test::Choice& choice) { return choice.degrees.intra == 1; });
  CHECK(choices.size() >= 4);
  require_equal_to_oracle(problem, choices);
}

/// Rows of `document` in a tensor, as one block of floats.
std::vector<float> rows_of(const HostTensor& tensor, TokenRange document) {
  const auto row = static_cast<std::ptrdiff_t>(tensor.heads) * tensor.width;
  return {tensor.values.begin() + document.begin * row, tensor.values.begin() + document.end * row};
}

TEST_CASE("a document's results do not change when another document's values change") {
  const auto [kind, decay] = GENERATE(from_range(kKinds));
  const AttentionShape shape = small_shape(kind, 8, 2, decay);
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
