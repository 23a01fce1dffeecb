// Every strategy x mask rule x form of attention x number of ranks, forward and backward, on random packings: the whole matrix
// with `ctest --test-dir build/dev -C matrix -R matrix`, a seeded sample of it with every other run of the tests.
#include <random>

#include "tests/conformance/oracle.hpp"
#include "tests/mask_rules.hpp"

namespace hsap::test {
namespace {

const std::vector<int> kRanks{1, 2, 3, 4, 6, 8, 16};

enum class Form { mha, gqa, mqa, mla };
const std::vector<Form> kForms{Form::mha, Form::gqa, Form::mqa, Form::mla};

std::string to_string(Form form) {
  switch (form) {
    case Form::mha:
      return "MHA";
    case Form::gqa:
      return "GQA";
    case Form::mqa:
      return "MQA";
    case Form::mla:
      return "MLA";
  }
  return {};
}

/// MLA as it is trained: keys and values expanded to every head, q and k wider than v by the rotary part.
AttentionShape shape_of(Form form, int ranks) {
  const auto [query_heads, grouped] = heads_for(ranks);
  const int kv_heads = form == Form::mqa ? 1 : form == Form::gqa ? grouped : query_heads;
  return {.kind = AttentionKind::softmax,
          .query_heads = query_heads,
          .kv_heads = kv_heads,
          .qk_dim = form == Form::mla ? 12 : 8,
          .v_dim = 8,
          .dtype = DType::bf16,
          .mask = {}};
}

/// One cell of the matrix: all strategies, degrees and options on one random packing.
void require_cell(int ranks, int rule, Form form) {
  const auto seed = static_cast<std::uint64_t>(1000 * ranks + 10 * rule + static_cast<int>(form));
  std::mt19937_64 random(seed);
  const auto length = [&](Token longest) { return 1 + static_cast<Token>(random() % static_cast<std::uint64_t>(longest)); };
  AttentionShape shape = shape_of(form, ranks);
  const Token near = length(20), far = length(60), sinks = length(6);
  shape.mask = rule_of_kind(rule, near, far, sinks);
  CAPTURE(seed, ranks, to_string(form), hsap::to_string(shape.mask));
  require_equal_to_oracle(shape, random_offsets(seed, 90), ranks, std::max(1, ranks / 2));
}

TEST_CASE("conformance matrix: every strategy, mask rule, form of attention and number of ranks", "[.][matrix]") {
  const int ranks = GENERATE(from_range(kRanks));
  const int rule = GENERATE(range(0, kRuleKinds));
  const Form form = GENERATE(from_range(kForms));
  require_cell(ranks, rule, form);
}

TEST_CASE("conformance matrix: a sample in which each mask rule, form of attention and number of ranks occurs") {
  for (int rule = 0; rule < kRuleKinds; ++rule) {
    const auto turn = static_cast<std::size_t>(rule);
    require_cell(kRanks[turn % kRanks.size()], rule, kForms[turn % kForms.size()]);
  }
}

}  // namespace
}  // namespace hsap::test
