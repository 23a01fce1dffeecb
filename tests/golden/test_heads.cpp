// Reports B: which head-parallel degrees the heads allow, and what to do where they do not. hsap has no tensor parallelism:
// where there is one, the layer that it plans is the share of one tensor-parallel rank (B8).
#include "planner/inputs/cluster_topology.hpp"
#include "planner/inputs/model_shape.hpp"
#include "tests/golden/reports.hpp"

namespace hsap {
namespace {

using Catch::Matchers::Contains;
using test::problem_on;
using test::refusal_of;

AttentionShape heads(int query_heads, int kv_heads, int width = 128) {
  return {.kind = AttentionKind::softmax,
          .query_heads = query_heads,
          .kv_heads = kv_heads,
          .qk_dim = width,
          .v_dim = width,
          .dtype = DType::bf16,
          .mask = {}};
}

TEST_CASE(
    "B1 (LongPO 5): 28 heads on ulysses 8 end in an assertion: refused with the degrees that work, ragged heads among them") {
  const AttentionShape qwen = model_preset("Qwen2.5-7B").kinds.front().attention;
  const std::string message = refusal_of("ulysses", qwen, 8, {8, 1});
  CHECK_THAT(message, Contains("28 heads") && Contains("1, 2, 4 (28 with KV replication x7)") && Contains("ragged heads"));
  CHECK_THAT(message, Contains("ulysses 4 x ring 2") && Contains("ulysses 4 x dp 2"));

  Problem ragged = problem_on(heads(28, 4, 4), {0, 20, 64}, 8, 8);
  ragged.ragged_heads = true;
  test::require_oracle(ragged, {{&find_strategy("ulysses"), {8, 1}, {}}, {&find_strategy("megatron-sp"), {8, 1}, {}}});
}

TEST_CASE("B2 (DeepSpeed 4674): sequence parallelism of 64 wanted of 48 or 52 heads: the rest of the degree goes to the ring") {
  CHECK_THAT(refusal_of("ulysses", heads(48, 48), 64, {64, 1}), Contains("48 heads") && Contains("ulysses 16 x ring 4"));
  CHECK_THAT(refusal_of("ulysses", heads(52, 52), 64, {64, 1}),
             Contains("valid degrees 1, 2, 4, 13, 26, 52;") && Contains("ulysses 4 x ring 16"));
  CHECK(refusal_of("usp", heads(48, 48), 64, {16, 4}) == "accepted");
  CHECK(refusal_of("usp", heads(52, 52), 64, {4, 16}) == "accepted");
}

TEST_CASE("B4 (verl 1226): stuck at 8 with 40 query and 8 kv heads: 40 works with kv heads replicated 5 times, 16 does not") {
  const AttentionShape qwen = heads(40, 8);
  CHECK_THAT(refusal_of("ulysses", qwen, 16, {16, 1}), Contains("40 heads not divisible by head-parallel degree 16") &&
                                                           Contains("1, 2, 4, 8 (40 with KV replication x5)") &&
                                                           Contains("ulysses 8 x ring 2"));
  CHECK(refusal_of("usp", qwen, 16, {8, 2}) == "accepted");
  // A row of q and one of o take 40 heads of 256 B, k and v with their copies as much; one fortieth of each stays.
  const Problem problem = problem_on(qwen, {0, 4000}, 40, 8);
  const Schedule schedule = test::proved({&find_strategy("ulysses"), {40, 1}, {}}, problem);
  CHECK(test::total_sent(schedule, Phase::forward) == 4000.0 * (2 * 39 * 256 + 2 * 39 * 256));
}

TEST_CASE("B5 (ms-swift 5624): 32 heads on 6 GPUs fail: ulysses 2 x ring 3, also on GPUs 0,1,2,3,6,7") {
  const AttentionShape llama = model_preset("Llama-3.1-8B").kinds.front().attention;
  CHECK_THAT(refusal_of("ulysses", llama, 6, {6, 1}), Contains("ulysses 2 x ring 3"));
  CHECK(refusal_of("usp", llama, 6, {2, 3}) == "accepted");
  const ClusterTopology node = ClusterTopology::read(HSAP_SOURCE_DIR "/topologies/rtx4090-pcie-8.yaml");
  const ClusterTopology chosen = node.take({0, 1, 2, 3, 6, 7});
  CHECK(chosen.gpus() == 6);
  CHECK(chosen.island_of(3) != chosen.island_of(4));  // GPUs 3 and 6 are on different sockets
  CHECK(chosen.route(3, 4).latency_seconds > chosen.route(2, 3).latency_seconds);
}

TEST_CASE(
    "B7 (TRL 6268): num_key_value_heads 2 beside 8 heads under MLA: it is nominal, told and ignored, degree 8 needs no copy") {
  const ModelShape model = parse_model_config(
      R"({"model_type": "deepseek_v3", "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 8,
          "num_key_value_heads": 2, "kv_lora_rank": 16, "qk_nope_head_dim": 8, "qk_rope_head_dim": 4, "v_head_dim": 8,
          "torch_dtype": "bfloat16"})",
      "tiny-v3");
  const AttentionShape shape = model.kinds.front().attention;
  CHECK(shape.kv_heads == 8);
  REQUIRE(model.remarks.size() == 1);
  CHECK_THAT(model.remarks.front(), Contains("num_key_value_heads 2 is ignored"));
  CHECK_THAT(refusal_of("ulysses", shape, 16, {16, 1}), Contains("valid degrees 1, 2, 4, 8;"));
  const Problem problem = problem_on(shape, {0, 30, 41}, 8, 8);
  test::require_oracle(problem, {{&find_strategy("ulysses"), {8, 1}, {}}});
}

TEST_CASE(
    "B8 (sglang 33704): 56 heads seem to go with tp 4 and ulysses 4: of the quotient 14 they do not (all-to-all on neighbours, "
    "ring strided)") {
  CHECK(refusal_of("usp", heads(56 / 2, 56 / 2), 4, {4, 1}) == "accepted");
  CHECK_THAT(refusal_of("usp", heads(56 / 4, 56 / 4), 4, {4, 1}),
             Contains("14 heads not divisible by head-parallel degree 4; valid degrees 1, 2, 7, 14"));
  const Problem problem = problem_on(heads(28, 28), {0, 64}, 8, 8);
  const Schedule schedule = find_strategy("usp").lower(problem, {4, 2});
  for (RankId rank = 0; rank < 8; ++rank)
    for (const Phase phase : {Phase::forward, Phase::backward})
      for (const Op& op : ops_of(schedule.ranks[rank], phase))
        if (const auto* exchange = std::get_if<Exchange>(&op.body))
          for (const Message& message : exchange->sends) CHECK((message.peer / 4 == rank / 4 || message.peer % 4 == rank % 4));
}

}  // namespace
}  // namespace hsap
