// Reports D: loss scales, gradients, tokens at the borders of shards. Loss and labels are outside attention: what hsap answers
// for is that d_o in gives the d_q, d_k, d_v of one device, whatever the degree, and that q, k, v and d_o are split alike,
// once.
#include <algorithm>
#include <cmath>

#include "tests/golden/reports.hpp"

namespace hsap {
namespace {

using Catch::Matchers::Contains;
using test::offsets_of;
using test::problem_on;
using test::small_layer;

/// Zeros in all rows of d_o but those of `kept`.
void keep_loss_of(LayerInputs& inputs, TokenRange kept) {
  const auto row = static_cast<std::ptrdiff_t>(inputs.d_o.heads) * inputs.d_o.width;
  std::fill(inputs.d_o.values.begin(), inputs.d_o.values.begin() + kept.begin * row, 0.0F);
  std::fill(inputs.d_o.values.begin() + kept.end * row, inputs.d_o.values.end(), 0.0F);
}

double norm_of(const HostTensor& tensor) {
  double squares = 0;
  for (const float value : tensor.values) squares += static_cast<double>(value) * value;
  return std::sqrt(squares);
}

TEST_CASE(
    "D1 (Megatron-LM 673, 906, 1124, 1676), D10 (SkyRL 1420), D11 (Transformers 39674), D14 (verl 6609): gradients grow or "
    "shrink with the degree: their norm is that of one device") {
  for (const AttentionKind kind : {AttentionKind::softmax, AttentionKind::linear}) {
    const std::vector<Token> offsets = offsets_of({50, 11, 35});
    const LayerInputs inputs = random_inputs(small_layer(kind), 96, 5);
    const Schedule alone = find_strategy("ulysses").lower(problem_on(small_layer(kind), offsets, 1, 1), {1, 1});
    const LayerResults one = execute_on_cpu(alone, inputs).results;
    for (const int ranks : {2, 4, 8}) {
      const Problem problem = problem_on(small_layer(kind), offsets, ranks, ranks);
      for (const test::Choice& choice : test::first_choices(problem)) {
        INFO(choice.describe() << " on " << ranks << " ranks");
        const LayerResults many = execute_on_cpu(test::proved(choice, problem), inputs).results;
        for (const auto gradient : {&LayerResults::d_q, &LayerResults::d_k, &LayerResults::d_v})
          CHECK(norm_of(many.*gradient) == Approx(norm_of(one.*gradient)).epsilon(1e-6));
      }
    }
  }
}

TEST_CASE("D2 (Megatron-LM 7513): one valid token on one rank: gradients are those of one device, not divided by the degree") {
  const Problem problem = problem_on(small_layer(), {0, 20, 64}, 4, 4);
  LayerInputs inputs = random_inputs(problem.shape, 64, 5);
  keep_loss_of(inputs, {63, 64});
  test::require_oracle(problem, inputs, test::choices_for(problem));
}

TEST_CASE(
    "D4 (Megatron-LM 1464): a ring between processes gives wrong dQ, dK, dV: each is the oracle's, with documents cut by it") {
  for (const int ranks : {2, 4, 8}) {
    const Problem problem = problem_on(small_layer(), offsets_of({61, 1, 130, 64}), ranks, ranks);
    std::vector<test::Choice> rings;
    for (const std::string strategy :
         {"ring", "zigzag", "stripe", "burst", "te-a2a-p2p", "double-ring", "hybrid-cp", "zeppelin"})
      rings.push_back({&find_strategy(strategy), {1, ranks}, {}});
    test::require_oracle(problem, rings);
  }
}

TEST_CASE(
    "D5 (ring-flash-attention 42): partial gradients in bf16 go wrong in long rings: d_k and d_v travel and are summed in "
    "fp32") {
  AttentionShape llama = small_layer();
  llama.query_heads = 128, llama.kv_heads = 8, llama.qk_dim = llama.v_dim = 128;  // Llama-3.1-405B
  for (const int ranks : {4, 8}) {
    const Problem problem = problem_on(llama, {0, 65536}, ranks, 8);
    for (const std::string strategy : {"ring", "zigzag", "usp", "hybrid-cp", "zeppelin"}) {
      CAPTURE(strategy, ranks);
      const Schedule schedule = find_strategy(strategy).lower(problem, {1, ranks});
      for (RankId rank = 0; rank < schedule.ranks.size(); ++rank) {
        const auto require_fp32 = [&](const Slice& slice) {
          const Buffer& buffer = schedule.buffer(rank, slice.buffer);
          if (buffer.role == Role::d_k || buffer.role == Role::d_v) CHECK(buffer.dtype == DType::fp32);
        };
        for (const Op& op : schedule.ranks[rank].backward) {
          if (std::holds_alternative<Exchange>(op.body)) for_each_read(op.body, require_fp32);
          if (std::holds_alternative<Accumulate>(op.body)) for_each_write(op.body, require_fp32);
        }
      }
      // Gradients of a block take ranks hops of 4 bytes per element, or of 2 when asked; keys and values ranks - 1 hops of 2.
      const double elements = 65536.0 * 2 * 8 * 128;
      CHECK(test::total_sent(schedule, Phase::backward) == elements * (2 * (ranks - 1) + 4 * ranks));
      if (strategy != "hybrid-cp" && strategy != "zeppelin")
        CHECK(test::total_sent(find_strategy(strategy).lower(problem, {1, ranks}, {.d_kv = DType::bf16}), Phase::backward) ==
              elements * (2 * (ranks - 1) + 2 * ranks));
    }
  }
}

TEST_CASE(
    "D7 (verl 4250), D8 (ms-swift 10185): the tokens at a shard's border are off by one: right with documents ending there") {
  for (const Token end : {15, 16, 17}) {
    const Problem problem = problem_on(small_layer(), {0, end, 48, 64}, 4, 4);
    test::require_oracle(problem, test::choices_for(problem));
  }
}

TEST_CASE(
    "D13 (axolotl 3498): a sequence is split twice on 8 GPUs: every rank holds an eighth, within the tolerance of its law") {
  const Problem problem = problem_on(small_layer(), {0, 32768}, 8, 8);
  for (const test::Choice& choice : test::choices_for(problem)) {
    INFO(choice.describe());
    for (const Token share : test::shares_of(test::proved(choice, problem))) {
      CHECK(share >= 4096 / 2);
      CHECK(share <= 4096 * 3 / 2);
    }
  }
  for (const std::string strategy : {"ring", "zigzag", "stripe", "burst", "allgather", "blockdiag"})
    CHECK(test::shares_of(find_strategy(strategy).lower(problem, {1, 8})) == std::vector<Token>(8, 4096));
  CHECK(test::shares_of(find_strategy("ulysses").lower(problem, {8, 1})) == std::vector<Token>(8, 4096));
}

TEST_CASE(
    "D16 (verl 2639): inputs are left whole while labels are sliced: a rank whose d_o holds other tokens than q is refused") {
  const Problem problem = problem_on(small_layer(), {0, 20, 64}, 4, 4);
  for (const std::string strategy : {"ring", "magi"}) {
    Schedule schedule = find_strategy(strategy).lower(problem, {1, 4});
    RankProgram& program = schedule.ranks[2];
    schedule.token_sets.push_back(TokenSet{{0, 64}});
    program.buffers[program.boundary.q].tokens = static_cast<TokenSetId>(schedule.token_sets.size() - 1);
    CHECK_THAT(test::refusal_of([&] { verify(schedule, problem.mask); }),
               Contains("rank 2: boundary q holds tokens [0, 64), the rank owns"));
  }
}

TEST_CASE(
    "D17 (ms-swift 2870): a rank without any label divides by zero under SP 4 and 8: no labels at all give zeros, not NaN") {
  for (const int ranks : {4, 8})
    for (const AttentionKind kind : {AttentionKind::softmax, AttentionKind::linear}) {
      const Problem problem = problem_on(small_layer(kind), offsets_of({3, 2}), ranks, ranks);  // 3 of 8 have no token either
      LayerInputs inputs = random_inputs(problem.shape, 5, 5);
      keep_loss_of(inputs, {0, 0});
      for (const test::Choice& choice : test::first_choices(problem)) {
        INFO(choice.describe() << " on " << ranks << " ranks");
        const LayerResults results = execute_on_cpu(test::proved(choice, problem), inputs).results;
        for (const auto gradient : {&LayerResults::d_q, &LayerResults::d_k, &LayerResults::d_v})
          CHECK(norm_of(results.*gradient) == 0);
      }
    }
}

TEST_CASE(
    "D19 (NeMo Speech 15679): a gather without a backward gives zero gradients: the last token's loss reaches every key") {
  for (const AttentionKind kind : {AttentionKind::softmax, AttentionKind::linear}) {
    const Problem problem = problem_on(small_layer(kind), {0, 64}, 4, 4);
    LayerInputs inputs = random_inputs(problem.shape, 64, 5);
    keep_loss_of(inputs, {63, 64});
    const auto row = static_cast<std::size_t>(problem.shape.kv_heads * problem.shape.v_dim);
    for (const test::Choice& choice : test::first_choices(problem)) {
      INFO(choice.describe());
      const LayerResults results = execute_on_cpu(test::proved(choice, problem), inputs).results;
      for (std::size_t token = 0; token < 64; ++token) {
        CHECK(results.d_k.values[token * row] != 0);
        CHECK(results.d_v.values[token * row] != 0);
      }
    }
  }
}

}  // namespace
}  // namespace hsap
