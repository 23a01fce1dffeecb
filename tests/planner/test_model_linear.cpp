// Linear work of a layer: parameters that a token multiplies outside attention, worked by hand, and what is said when a file
// does not tell.
#include <catch2/catch.hpp>
#include <string>

#include "planner/inputs/model_shape.hpp"
#include "planner/ir/errors.hpp"

namespace hsap {
namespace {

using Catch::Matchers::Contains;

/// A config of four layers, 64 wide, with 8 query heads of 8; `more` = further keys.
ModelShape parse(const std::string& model_type, const std::string& more) {
  return parse_model_config(
      R"({"model_type": ")" + model_type +
          R"(", "num_hidden_layers": 4, "hidden_size": 64, "num_attention_heads": 8, "dtype": "bfloat16")" +
          (more.empty() ? "" : ", " + more) + "}",
      "f");
}

double parameters(const std::string& model_type, const std::string& more, const std::string& kind = "full") {
  return parse(model_type, more).kind(kind).known_linear_parameters();
}

/// Of q, k, v, o with as many kv heads as query heads.
constexpr double kSquareProjections = 4 * 64 * 64;
const std::string kMlp = R"("intermediate_size": 100)";

TEST_CASE("linear work: projections with their real widths, and a gated MLP") {
  CHECK(parameters("llama", kMlp) == kSquareProjections + 3 * 64 * 100);
  CHECK(parameters("llama", kMlp + R"(, "num_key_value_heads": 2)") == 64 * (64 + 16 + 16 + 64) + 3 * 64 * 100);
  CHECK(parameters("llama", kMlp + R"(, "head_dim": 16, "num_key_value_heads": 1)") ==
        64 * (128 + 16 + 16 + 128) + 3 * 64 * 100);
  CHECK(parameters("mimo_v2", kMlp + R"(, "head_dim": 12, "v_head_dim": 8)") == 64 * (96 + 96 + 64 + 64) + 3 * 64 * 100);
}

TEST_CASE("linear work: the published layer of Llama 3 8B has 218.1 million linear parameters") {
  // 8.03 billion in all (its model card), less embeddings and output of 128,256 x 4,096 each, over 32 layers; norms left out.
  const double layer = model_preset("Llama-3.1-8B").kinds[0].known_linear_parameters();
  CHECK(layer == 218'103'808);
  CHECK(layer == Approx((8.03e9 - 2 * 128256 * 4096.0) / 32).epsilon(1e-3));
}

TEST_CASE("linear work: MLPs without a gate, of a width that the family's code fixes") {
  CHECK(parameters("gpt2", "") == kSquareProjections + 2 * 64 * 256);
  CHECK(parameters("gpt2", R"("n_inner": null)") == kSquareProjections + 2 * 64 * 256);
  CHECK(parameters("gpt2", R"("n_inner": 100)") == kSquareProjections + 2 * 64 * 100);
  CHECK(parameters("starcoder2", kMlp) == kSquareProjections + 2 * 64 * 100);
}

TEST_CASE("linear work: multi-head latent attention goes through its latents") {
  const std::string sizes =
      R"("kv_lora_rank": 16, "qk_nope_head_dim": 6, "qk_rope_head_dim": 2, "v_head_dim": 4, "intermediate_size": 100, )";
  const double kv_and_o = 64 * (16 + 2) + 16 * 8 * (6 + 4) + 8 * 4 * 64;
  CHECK(parameters("deepseek_v3", sizes + R"("q_lora_rank": 24)") == 64 * 24 + 24 * 8 * 8 + kv_and_o + 3 * 64 * 100);
  CHECK(parameters("deepseek_v3", sizes + R"("q_lora_rank": null)") == 64 * 8 * 8 + kv_and_o + 3 * 64 * 100);
  CHECK_THAT(parse("deepseek_v3", sizes + R"("x": 1)").kinds[0].linear_unknown, Contains("f: q_lora_rank is missing"));
}

TEST_CASE("linear work: router, visited experts and shared experts, the mean where some layers are dense") {
  const std::string experts = R"("num_experts_per_tok": 2, "moe_intermediate_size": 10, "intermediate_size": 100, )";
  const double expert = 3 * 64 * 10, dense = 3 * 64 * 100, router = 64 * 16;
  CHECK(parameters("qwen3_moe", experts + R"("num_experts": 16)") == kSquareProjections + router + 2 * expert);
  CHECK(parameters("qwen2_moe", experts + R"("num_experts": 16, "shared_expert_intermediate_size": 30)") ==
        kSquareProjections + router + 5 * expert + 64);
  CHECK(parameters("mixtral", R"("num_experts_per_tok": 2, "num_local_experts": 16, "intermediate_size": 10)") ==
        kSquareProjections + router + 2 * expert);

  const std::string deepseek = experts + R"("n_routed_experts": 16, "n_shared_experts": 1, )";
  const ModelShape mixed = parse("deepseek_v3", deepseek + R"("first_k_dense_replace": 1)");
  const double with_experts = router + 3 * expert;
  CHECK(mixed.kinds[0].known_linear_parameters() == kSquareProjections + (3 * with_experts + dense) / 4);
  CHECK_THAT(mixed.remarks.back(), Contains("linear work differs among the full layers") && Contains("mean"));
  CHECK(parameters("deepseek_v3", deepseek + R"("first_k_dense_replace": 0, "moe_layer_freq": 2)") ==
        kSquareProjections + (with_experts + dense) / 2);
  CHECK(parameters("mimo_v2", deepseek + R"("moe_layer_freq": [0, 1, 1, 1])") ==
        kSquareProjections + (3 * with_experts + dense) / 4);

  const std::string qwen = experts + R"("num_experts": 16, )";
  CHECK(parameters("qwen3_moe", qwen + R"("mlp_only_layers": [2], "decoder_sparse_step": 1)") ==
        kSquareProjections + (3 * (router + 2 * expert) + dense) / 4);
  CHECK(parameters("qwen3_moe", qwen + R"("decoder_sparse_step": 2)") ==
        kSquareProjections + (router + 2 * expert + dense) / 2);
  CHECK(parameters("glm4_moe", qwen + R"("mlp_layer_types": ["dense", "sparse", "sparse", "sparse"])") ==
        kSquareProjections + (3 * (router + 2 * expert) + dense) / 4);
}

TEST_CASE("linear work: families with something of their own") {
  const double dense = 3 * 64 * 100, expert = 3 * 64 * 10, router = 64 * 16;
  // Gemma 4: an MLP beside the experts, and k and v of full layers in one tensor.
  CHECK(parameters("gemma4_text", kMlp + R"(, "attention_k_eq_v": true, "enable_moe_block": true, "num_experts": 16,
                                           "top_k_experts": 2, "moe_intermediate_size": 10)") ==
        3 * 64 * 64 + dense + router + 2 * expert);
  CHECK(parameters("gemma4_text", kMlp + R"(, "enable_moe_block": false, "num_experts": 16)") == kSquareProjections + dense);
  // Llama 4: experts in every second layer, each with a shared one; dense layers have a width of their own.
  CHECK(parameters("llama4_text", R"("num_local_experts": 16, "num_experts_per_tok": 1, "intermediate_size": 10,
                                    "intermediate_size_mlp": 100, "interleave_moe_layer_step": 2)") ==
        kSquareProjections + (dense + router + 2 * expert) / 2);
  // Nemotron-NAS: int(2 x 3 x 64 / 3) = 128, rounded up to 256; one matrix; nothing.
  const auto block = [](const std::string& ffn) { return R"({"attention": {"n_heads_in_group": 1}, "ffn": {)" + ffn + "}}"; };
  CHECK(parameters("nemotron-nas", "\"block_configs\": [" + block("\"ffn_mult\": 3") + "," + block("\"no_op\": true") + "," +
                                       block("\"replace_with_linear\": true") + "," + block("\"ffn_mult\": 3.0") + "]") ==
        kSquareProjections + (2 * 3 * 64 * 256 + 64 * 64) / 4.0);
  CHECK_THAT(
      parse("nemotron-nas", "\"block_configs\": [" + block("") + "," + block("") + "," + block("") + "," + block("") + "]")
          .kinds[0]
          .linear_unknown,
      Contains("f: block_configs[0].ffn.ffn_mult is missing"));
}

TEST_CASE("linear work: linear layers of hybrid models have it, too") {
  const std::string delta = R"("linear_num_key_heads": 2, "linear_num_value_heads": 4, "linear_key_head_dim": 16,
                              "linear_value_head_dim": 32, "full_attention_interval": 4, )" +
                            kMlp;
  CHECK(parameters("qwen3_next", delta, "linear") == 64 * (2 * 32 + 2 * 128 + 2 * 4 + 128) + 3 * 64 * 100);
  CHECK(parameters("qwen3_next", delta) == 64 * (2 * 64 + 64 + 64 + 64) + 3 * 64 * 100);  // its output gate
  CHECK(parameters("qwen3_5_text", delta + R"(, "attn_output_gate": true)") == 64 * (2 * 64 + 64 + 64 + 64) + 3 * 64 * 100);

  const std::string mamba = R"("mamba_num_heads": 4, "ssm_state_size": 16, "mamba_head_dim": 8, "n_groups": 2,
                              "hybrid_override_pattern": "M*-E")";
  CHECK(parameters("nemotron_h", mamba, "linear") == 64 * (2 * 32 + 2 * 2 * 16 + 4 + 32));
  CHECK(parameters("nemotron_h", mamba) == kSquareProjections);
  CHECK_THAT(parse("nemotron_h", mamba).remarks.back(), Contains("their linear work is in no layer's time"));

  const std::string lightning =
      R"("layer_types": ["linear_attention", "linear_attention", "linear_attention", "full_attention"], "num_local_experts": 16,
         "num_experts_per_tok": 2, "intermediate_size": 10)";
  CHECK(parameters("minimax", lightning, "linear") == 5 * 64 * 64 + 64 * 16 + 2 * 3 * 64 * 10);
}

TEST_CASE("linear work: what a file does not tell is named when it is asked for, and attention can be planned without") {
  const auto unknown = [](const std::string& model_type, const std::string& more) {
    const LayerKind kind = parse(model_type, more).kinds[0];
    CHECK_FALSE(kind.linear_parameters);
    CHECK_THROWS_AS(kind.known_linear_parameters(), InvalidInput);
    CHECK(kind.linear_unknown.find('\n') == std::string::npos);
    return kind.linear_unknown;
  };
  CHECK_THAT(unknown("llama", ""), Contains("f: intermediate_size is missing"));
  CHECK_THAT(unknown("llama", R"("intermediate_size": 0)"), Contains("f: intermediate_size is 0"));
  CHECK_THAT(unknown("strange", kMlp), Contains("f: model_type is \"strange\"") && Contains("has a gate"));
  CHECK(parameters("strange", kMlp + R"(, "hidden_act": "silu")") == kSquareProjections + 3 * 64 * 100);
  CHECK_THAT(unknown("qwen3_moe", kMlp + R"(, "num_experts": 16, "num_experts_per_tok": 2)"),
             Contains("f: moe_intermediate_size is missing"));
  CHECK_THAT(unknown("mixtral", kMlp + R"(, "num_local_experts": 16)"), Contains("f: num_experts_per_tok is missing"));
  CHECK_THAT(unknown("mimo_v2", kMlp + R"(, "n_routed_experts": 16, "num_experts_per_tok": 2, "moe_intermediate_size": 10,
                                         "moe_layer_freq": [0, 1])"),
             Contains("f: moe_layer_freq has 2 entries, none for layer 2"));
  CHECK_THAT(unknown("qwen3_moe", kMlp + R"(, "num_experts": 16, "mlp_only_layers": 3)"),
             Contains("f: mlp_only_layers is 3, expected a list of layers"));
}

}  // namespace
}  // namespace hsap
