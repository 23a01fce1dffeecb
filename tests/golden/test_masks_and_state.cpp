// Reports C: packed documents, masks that get lost on the way, state that leaks from document to document.
// (Of C20 the binding of modules to a group is a framework's, of C13 position ids are: neither is in a schedule.)
#include <algorithm>
#include <limits>

#include "planner/inputs/model_shape.hpp"
#include "tests/golden/reports.hpp"

namespace hsap {
namespace {

using Catch::Matchers::Contains;
using test::offsets_of;
using test::problem_on;
using test::small_layer;

const std::vector<HostTensor LayerInputs::*> kInputs{&LayerInputs::q, &LayerInputs::k, &LayerInputs::v, &LayerInputs::d_o};
const std::vector<HostTensor LayerResults::*> kResults{&LayerResults::o, &LayerResults::d_q, &LayerResults::d_k,
                                                       &LayerResults::d_v};

/// Rows of some tokens in a tensor, as one block of floats.
std::vector<float> rows_of(const HostTensor& tensor, TokenRange tokens) {
  const auto row = static_cast<std::ptrdiff_t>(tensor.heads) * tensor.width;
  return {tensor.values.begin() + tokens.begin * row, tensor.values.begin() + tokens.end * row};
}

/// Sets all values of some tokens.
void fill(HostTensor& tensor, TokenRange tokens, float value) {
  const auto row = static_cast<std::ptrdiff_t>(tensor.heads) * tensor.width;
  std::fill(tensor.values.begin() + tokens.begin * row, tensor.values.begin() + tokens.end * row, value);
}

/// Values of one document that would swamp every other document's sums do not change a bit of them.
void require_documents_apart(AttentionKind kind) {
  const Problem problem = problem_on(small_layer(kind), {0, 21, 58, 96}, 4, 2);
  const LayerInputs inputs = random_inputs(problem.shape, 96, 9);
  LayerInputs swamped = inputs;
  for (const auto tensor : kInputs) fill(swamped.*tensor, problem.mask.document(1), 1e4F);
  for (const test::Choice& choice : test::choices_for(problem)) {
    INFO(choice.describe());
    const Schedule schedule = choice.strategy->lower(problem, choice.degrees, choice.options);
    const LayerResults before = execute_on_cpu(schedule, inputs).results;
    const LayerResults after = execute_on_cpu(schedule, swamped).results;
    for (const auto tensor : kResults) {
      CHECK(rows_of(before.*tensor, problem.mask.document(1)) != rows_of(after.*tensor, problem.mask.document(1)));
      for (const std::size_t other : {0U, 2U})
        CHECK(rows_of(before.*tensor, problem.mask.document(other)) == rows_of(after.*tensor, problem.mask.document(other)));
    }
  }
}

TEST_CASE("C1 (TransformerEngine 3527): all-to-all drops the sliding window of wide heads: no strategy does") {
  AttentionShape shape = small_layer();
  shape.query_heads = shape.kv_heads = 4;
  shape.qk_dim = shape.v_dim = 256;
  const Problem full = problem_on(shape, offsets_of({7, 41}), 4, 4);
  shape.mask = window_rule(6);
  const Problem windowed = problem_on(shape, offsets_of({7, 41}), 4, 4);
  test::require_oracle(windowed, test::first_choices(windowed));

  const LayerInputs inputs = random_inputs(shape, 48, 3);
  const RelativeErrors against_full =
      compare_all(reference_attention(shape, windowed.mask, inputs), reference_attention(full.shape, full.mask, inputs));
  CHECK(against_full.o > 0.1);  // so whoever dropped the window would not pass
}

TEST_CASE(
    "C2 (prime-rl 2828): layers that slide are computed as full ones: each kind of layer keeps its own mask to the last op") {
  const ModelShape model = model_preset("gpt-oss-120b");
  const AttentionShape sliding = model.kind("sliding").attention, full = model.kind("full").attention;
  CHECK(to_string(sliding.mask) == "window 128");
  CHECK(to_string(full.mask) == "causal");
  const std::vector<Token> offsets = offsets_of({700, 3000, 396});
  const Problem windowed = problem_on(sliding, offsets, 8, 8), whole = problem_on(full, offsets, 8, 8);
  for (const test::Choice& choice : test::choices_for(windowed)) {
    INFO(choice.describe());
    CHECK(test::proved(choice, windowed).shape.mask == sliding.mask);
  }
  CHECK(windowed.mask.pairs() * 8 < whole.mask.pairs());
  // A schedule of one kind of layer does not pass for the other.
  CHECK_THAT(test::refusal_of([&] {
               verify(find_strategy("ulysses").lower(whole, {8, 1}), windowed.mask);
             }),
             Contains("causal") && Contains("window 128"));
}

TEST_CASE(
    "C4 (Megatron-LM 2222): all keys are gathered for a window of 1024: needed-only sends a 128th, 1023 keys per border") {
  AttentionShape shape = model_preset("Llama-3.1-8B").kinds.front().attention;
  shape.mask = window_rule(1024);
  const Problem problem = problem_on(shape, {0, 131072}, 16, 8);
      problem_on(shape, {0, 131072}, 16, 16);  // one node: hsap sends a border between nodes by several NICs
  const Schedule all = find_strategy("allgather").lower(problem, {1, 16});
  const Schedule needed = find_strategy("hsap").lower(problem, {1, 16}, {.placement = "contiguous", .stages = 1});
  const double key_and_value = 8 * 2 * 128 * 2;
  CHECK(test::total_sent(all, Phase::forward) == 15.0 * 131072 * key_and_value);
  CHECK(test::total_sent(needed, Phase::forward) == 15.0 * 1023 * key_and_value);
  CHECK(test::total_sent(find_strategy("blockdiag").lower(problem, {1, 16}), Phase::forward) == 15.0 * 1023 * key_and_value);
}

TEST_CASE("C5 (Automodel 2999): dense layers ignore where documents begin: a swamped document leaves the others as they are") {
  require_documents_apart(AttentionKind::softmax);
}

TEST_CASE("C7 (slime 1686): the recurrent state leaks into the next document: it is reset, and no state holds two documents") {
  require_documents_apart(AttentionKind::linear);
  AttentionShape decaying = small_layer(AttentionKind::linear);
  decaying.decay = 1;
  const Problem problem = problem_on(decaying, {0, 21, 58, 96}, 4, 2);
  test::require_oracle(problem, test::choices_for(problem));
  for (const test::Choice& choice : test::choices_for(problem)) {
    INFO(choice.describe());
    const Schedule schedule = choice.strategy->lower(problem, choice.degrees, choice.options);
    for (const RankProgram& program : schedule.ranks)
      for (const Buffer& buffer : program.buffers) {
        if (!is_state(buffer.role)) continue;
        const TokenRange summed = schedule.tokens(buffer.tokens).ranges().front();
        CHECK(problem.mask.document_of(summed.begin) == problem.mask.document_of(summed.end - 1));
      }
  }
}

TEST_CASE(
    "C8 (DeepSpeed 8114): ulysses on a packed hybrid model: linear heads bound the degree too, each kind of layer its own "
    "way") {
  const ModelShape model = model_preset("Qwen3.5-27B");
  const AttentionShape full = model.kind("full").attention, linear = model.kind("linear").attention;
  CHECK(head_parallel_degrees(full) == std::vector<int>{1, 2, 4, 8, 12, 24});
  CHECK(head_parallel_degrees(linear) == std::vector<int>{1, 2, 3, 4, 6, 8, 12, 16, 24, 48});
  CHECK(std::any_of(model.remarks.begin(), model.remarks.end(), [](const std::string& remark) {
    return remark.find("16 q and k heads are repeated") != std::string::npos;
  }));
  CHECK(test::refusal_of("ulysses", linear, 16, {16, 1}) == "accepted");
  CHECK_THAT(test::refusal_of("ulysses", full, 16, {16, 1}), Contains("24 heads") && Contains("ulysses 8 x ring 2"));
  CHECK_THAT(test::refusal_of("ulysses", linear, 32, {32, 1}), Contains("48 heads") && Contains("ulysses 16 x ring 2"));
  const Problem packed = problem_on(linear, offsets_of({5, 1, 12}), 8, 8);
  test::require_oracle(packed, {{&find_strategy("ulysses"), {8, 1}, {}}});
}

TEST_CASE(
    "C9 (prime-rl 3003): documents of 37, 51 and 40 tokens on 2 ranks: the state of the second crosses, and nothing else") {
  const Problem problem = problem_on(small_layer(AttentionKind::linear), {0, 37, 88, 128}, 2, 2);
  const Schedule schedule = find_strategy("lasp").lower(problem, {1, 2});
  verify(schedule, problem.mask);
  std::vector<TokenSet> summed;
  for (const Op& op : schedule.ranks[0].forward)
    if (const auto* exchange = std::get_if<Exchange>(&op.body))
      for (const Message& message : exchange->sends)
        for (const Slice& part : message.parts) summed.push_back(schedule.tokens(part.tokens));
  CHECK(summed == std::vector<TokenSet>{TokenSet{{37, 64}}});
  test::require_oracle_of_all_strategies({0, 37, 88, 128}, 2);
}

TEST_CASE("C10 (torchtitan 3892): linear layers under a strategy that cannot run them: refused with those that can") {
  const ModelShape model = model_preset("Qwen3.5-27B");
  CHECK(model.kind("linear").layers.size() == 48);  // of 64
  const AttentionShape linear = model.kind("linear").attention;
  std::size_t refused = 0;
  for (const Strategy* strategy : all_strategies()) {
    if (strategy->serves(AttentionKind::linear)) continue;
    CAPTURE(strategy->name());
    CHECK_THAT(test::refusal_of(strategy->name(), linear, 8, {1, 8}),
               Contains("does not serve linear attention; strategies that do: hsap, ulysses, lasp, lasp2, zeco"));
    ++refused;
  }
  CHECK(refused > 0);
}

TEST_CASE(
    "C11 (LlamaFactory 10727): linear layers run on each rank's part of a sequence alone: the last token knows the first") {
  for (const AttentionKind kind : {AttentionKind::linear, AttentionKind::softmax}) {
    const Problem problem = problem_on(small_layer(kind), {0, 64}, 4, 4);
    const LayerInputs inputs = random_inputs(problem.shape, 64, 9);
    LayerInputs changed = inputs;
    fill(changed.v, {0, 1}, 3);
    for (const test::Choice& choice : test::first_choices(problem)) {
      INFO(choice.describe());
      const Schedule schedule = test::proved(choice, problem);
      const LayerResults before = execute_on_cpu(schedule, inputs).results, after = execute_on_cpu(schedule, changed).results;
      CHECK(rows_of(before.o, {63, 64}) != rows_of(after.o, {63, 64}));
    }
  }
  for (const LayerKind& kind : model_preset("Qwen3.5-27B").kinds) {  // no token is lost in either kind of layer
    const Problem problem = problem_on(kind.attention, offsets_of({3000, 1, 1098}), 8, 8);
    for (const test::Choice& choice : test::first_choices(problem)) {
      INFO(kind.name << " layers, " << choice.describe());
      test::proved(choice, problem);
    }
  }
}

TEST_CASE(
    "A20 (Automodel 2731), C13 (miles 2038), C14 (Megatron-LM 5643): compressed attention fails late or crosses documents: "
    "refused at setup, with key and alternative") {
  const auto read = [](const std::string& keys) {
    return test::refusal_of([&] {
      parse_model_config(
          R"({"model_type": "deepseek_v4", "num_hidden_layers": 4, "hidden_size": 64, "num_attention_heads": 8, )" + keys +
              R"(, "sliding_window": 128, "torch_dtype": "bfloat16"})",
          "v4.json");
    });
  };
  CHECK_THAT(read(R"("compress_ratios": [0, 4, 128, 4])"),
             Contains("v4.json: compress_ratios") && Contains("full, sliding or linear attention"));
  CHECK_THAT(read(R"("index_topk": 512)"), Contains("v4.json: index_topk is 512") && Contains("dense attention"));
}

TEST_CASE("C16 (MaxText 2011): segment ids of 512 of 2048 tokens beside gathered keys: every rank knows all documents") {
  AttentionShape narrow = small_layer();
  narrow.query_heads = 2, narrow.kv_heads = 1, narrow.qk_dim = narrow.v_dim = 8;
  const Problem problem = problem_on(narrow, offsets_of({300, 1400, 348}), 4, 4);
  test::require_oracle(problem, {{&find_strategy("allgather"), {1, 4}, {}}, {&find_strategy("wlb"), {1, 4}, {}}});
}

TEST_CASE("C17 (MaxText 2160): blocks of 8192 under zigzag shards are wrong in silence: right wherever shards are cut") {
  AttentionShape shape = small_layer();
  shape.mask = block_rule(8192);
  const Problem large = problem_on(shape, offsets_of({40000, 9, 25530}), 4, 4);
  for (const test::Choice& choice : test::first_choices(large)) {
    INFO(choice.describe());
    test::proved(choice, large);
  }
  shape.mask = block_rule(13);
  const Problem small = problem_on(shape, offsets_of({100, 3, 41}), 4, 4);
  test::require_oracle(small, test::choices_for(small));
}

TEST_CASE(
    "C19 (Automodel 2551): a dense mask of S x S is built, 17 GB for 128 k tokens: a schedule grows with ranks, not with S^2") {
  const auto ranges_for = [](const std::string& strategy, Token tokens) {
    const Problem problem = problem_on(small_layer(), {0, tokens / 3, tokens}, 8, 8);
    const Schedule schedule = find_strategy(strategy).lower(problem, find_strategy(strategy).degrees(problem).front());
    std::size_t ranges = 0;
    for (const TokenSet& set : schedule.token_sets) ranges += set.ranges().size();
    return ranges;
  };
  for (const Strategy* strategy : all_strategies()) {
    if (!strategy->serves(AttentionKind::softmax)) continue;
    CAPTURE(strategy->name());
    if (strategy->name() == "stripe")  // deals single tokens by its own law: that many ranges, and no more
      CHECK(ranges_for("stripe", 1 << 14) < 2 * (1 << 14));
    else
      CHECK(ranges_for(strategy->name(), 1 << 20) < 10'000);
  }
}

TEST_CASE("C20 (Automodel 2384): NaN gradients go unnoticed: what is not finite is an error with tensor, token and head") {
  const Problem problem = problem_on(small_layer(), {0, 30, 64}, 4, 4);
  const LayerInputs inputs = random_inputs(problem.shape, 64, 9);
  const Schedule schedule = find_strategy("magi").lower(problem, {1, 4});
  LayerInputs with_nan = inputs;
  with_nan.k.values[40 * 4 * 16 + 2 * 16] = std::numeric_limits<float>::quiet_NaN();
  CHECK_THAT(test::refusal_of([&] { execute_on_cpu(schedule, with_nan); }), Contains("k") && Contains("token 40, head 2"));
  LayerInputs too_large = inputs;
  fill(too_large.d_o, {63, 64}, 1e38F);
  fill(too_large.v, {40, 41}, 1e38F);
  CHECK_THROWS_WITH(execute_on_cpu(schedule, too_large), Contains("token"));
}

TEST_CASE(
    "C22 (MagiAttention 25, 71, 154): wrong ranks in two-level groups of 1 to 8: every world and node size gives the oracle") {
  const int ranks = GENERATE(range(1, 9));
  const int per_node = GENERATE(2, 3, 4);
  CAPTURE(ranks, per_node);
  AttentionShape narrow = small_layer();
  narrow.qk_dim = narrow.v_dim = 4;
  Problem problem = problem_on(narrow, offsets_of({26, 3, 11}), ranks, per_node);
  problem.ragged_heads = true;  // 8 heads over 3, 5, 6 and 7 ranks
  test::require_oracle(problem, test::first_choices(problem));
}

TEST_CASE(
    "C22 (MagiAttention 25, 154): query ranges overlap, and batches of several: a token of two ranks is refused by its "
    "number") {
  const Problem problem = problem_on(small_layer(), offsets_of({16, 16}), 2, 2);  // two sequences are two documents of one pack
  Schedule schedule = find_strategy("ring").lower(problem, {1, 2});
  CHECK_NOTHROW(verify(schedule, problem.mask));
  schedule.token_sets[schedule.ranks[1].tokens] = TokenSet{{14, 32}};
  CHECK_THAT(test::refusal_of([&] { verify(schedule, problem.mask); }),
             Contains("token 14 is owned by 2 ranks, expected exactly one"));
}

}  // namespace
}  // namespace hsap
