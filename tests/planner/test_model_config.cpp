// Model configs: heads, widths and layer kinds as files of many families write them, and what is refused.
#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <vector>

#include "planner/inputs/model_shape.hpp"
#include "planner/ir/errors.hpp"

namespace hsap {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::Equals;
using Layers = std::vector<int>;

/// A config of four layers, 64 wide, with 8 query heads; `more` = further keys, which may override nothing.
std::string config(const std::string& more, const std::string& model_type = "llama") {
  return R"({"model_type": ")" + model_type +
         R"(", "num_hidden_layers": 4, "hidden_size": 64, "num_attention_heads": 8, "torch_dtype": "bfloat16")" +
         (more.empty() ? "" : ", " + more) + "}";
}

ModelShape parse(const std::string& text) { return parse_model_config(text, "f"); }

std::string refusal(const std::string& text) {
  try {
    parse(text);
  } catch (const InvalidInput& error) {
    const std::string message = error.what();
    CHECK(message.find('\n') == std::string::npos);
    return message;
  }
  return "accepted";
}

AttentionShape softmax(int query_heads, int kv_heads, int qk_dim, int v_dim, const MaskRule& mask = {}) {
  return {AttentionKind::softmax, query_heads, kv_heads, qk_dim, v_dim, DType::bf16, mask};
}

TEST_CASE("model: grouped heads and an implied head width") {
  const ModelShape model = parse(config("\"num_key_value_heads\": 2"));
  CHECK(model.layers == 4);
  CHECK(model.hidden == 64);
  REQUIRE(model.kinds.size() == 1);
  CHECK(model.kinds[0].name == "full");
  CHECK(model.kinds[0].attention == softmax(8, 2, 8, 8));
  CHECK(model.kinds[0].layers == Layers{0, 1, 2, 3});
  CHECK(model.remarks.empty());
}

TEST_CASE("model: an explicit head width wins, a null one is implied") {
  CHECK(parse(config("\"head_dim\": 24")).kinds[0].attention == softmax(8, 8, 24, 24));
  CHECK(parse(config("\"head_dim\": null")).kinds[0].attention == softmax(8, 8, 8, 8));
  CHECK(parse(config("\"kv_channels\": 16")).kinds[0].attention == softmax(8, 8, 16, 16));
}

TEST_CASE("model: an implied head width must divide") {
  CHECK_THAT(refusal(R"({"num_hidden_layers": 64, "hidden_size": 8196, "num_attention_heads": 64})"),
             Equals("f: hidden_size 8196 % num_attention_heads 64 != 0, give head_dim"));
}

TEST_CASE("model: KV heads must divide the query heads") {
  CHECK_THAT(refusal(config("\"num_key_value_heads\": 3")),
             Equals("f: num_key_value_heads is 3, expected a divisor of num_attention_heads 8"));
  CHECK_THAT(refusal(config("\"num_key_value_heads\": 16")), Contains("num_key_value_heads is 16"));
}

TEST_CASE("model: legacy names") {
  const ModelShape gpt2 =
      parse(R"({"model_type": "gpt2", "n_layer": 2, "n_embd": 60, "n_head": 20, "torch_dtype": "float32"})");
  CHECK(gpt2.kinds[0].attention.query_heads == 20);
  CHECK(gpt2.kinds[0].attention.kv_heads == 20);
  CHECK(gpt2.kinds[0].attention.qk_dim == 3);
  CHECK(gpt2.kinds[0].attention.dtype == DType::fp32);
  const std::string falcon = R"({"n_layer": 2, "hidden_size": 64, "n_head": 16, "torch_dtype": "bfloat16", )";
  CHECK(parse(falcon + R"("n_head_kv": 4, "num_kv_heads": 4})").kinds[0].attention == softmax(16, 4, 4, 4));
  CHECK_THAT(refusal(falcon + R"("n_head_kv": 4, "num_kv_heads": 8})"), Contains("num_kv_heads is 8 but n_head_kv is 4"));
  CHECK(parse(falcon + R"("multi_query": true, "num_kv_heads": 16})").kinds[0].attention == softmax(16, 1, 4, 4));
  CHECK(parse(falcon + R"("multi_query": true, "new_decoder_architecture": true, "num_kv_heads": 8})").kinds[0].attention ==
        softmax(16, 8, 4, 4));
}

TEST_CASE("model: a nested text_config is the model, and its messages say so") {
  const std::string outer = R"({"model_type": "x_vl", "vision_config": {"num_hidden_layers": 27}, "text_config": )";
  CHECK(parse(outer + config("\"num_key_value_heads\": 2") + "}").kinds[0].attention == softmax(8, 2, 8, 8));
  CHECK_THAT(refusal(outer + config("\"num_key_value_heads\": 3") + "}"), Contains("f: text_config.num_key_value_heads is 3"));
  CHECK_THAT(refusal(outer + "7}"), Contains("text_config is 7, expected an object"));
}

TEST_CASE("model: missing, null and nonsensical numbers are refused with file and key") {
  CHECK_THAT(refusal(R"({"num_hidden_layers": 4, "hidden_size": 64})"), Contains("f: num_attention_heads is missing"));
  CHECK_THAT(refusal(R"({"hidden_size": 64, "num_attention_heads": 8})"), Contains("f: num_hidden_layers is missing"));
  CHECK_THAT(refusal(config("\"num_key_value_heads\": null")),
             Equals("f: num_key_value_heads is null, expected a whole number from 1"));
  CHECK_THAT(refusal(config("\"num_key_value_heads\": 0")), Contains("num_key_value_heads is 0"));
  CHECK_THAT(refusal(config("\"num_key_value_heads\": -2")), Contains("num_key_value_heads is -2"));
  CHECK_THAT(refusal(config("\"num_key_value_heads\": 2.0")), Contains("num_key_value_heads is 2.0"));
  CHECK_THAT(refusal(config("\"num_key_value_heads\": \"2\"")), Contains("num_key_value_heads is \"2\""));
  CHECK_THAT(refusal(config("\"head_dim\": 99999999999999999999")), Contains("head_dim is"));
  CHECK_THAT(refusal(R"({"num_hidden_layers": 2000000, "hidden_size": 64, "num_attention_heads": 8})"),
             Contains("at most 100000"));
}

TEST_CASE("model: text that is no config is refused in one line") {
  CHECK_THAT(refusal(""), Contains("is empty"));
  CHECK_THAT(refusal("\"num_hidden_layers\": 4,\n"),
             Contains("f:1: begins with") && Contains("expected a JSON object in braces"));
  CHECK_THAT(refusal("[1]"), Contains("expected a JSON object"));
  CHECK_THAT(refusal("{\"num_hidden_layers\":\n 4,"), Contains("f:2: not valid JSON") && Contains("is the file complete?"));
  CHECK_THAT(refusal("version https://git-lfs.github.com/spec/v1\n"), Contains("git lfs pull"));
  CHECK_THROWS_WITH(read_model_config("/no/such/config.json"), Contains("no such file"));
}

TEST_CASE("model: Infinity and NaN, which Python writes, are read where nothing needs them") {
  CHECK(parse(config("\"time_step_limit\": [0.0, Infinity], \"x\": -Infinity, \"y\": NaN, \"z\": \"NaN\"")).layers == 4);
  CHECK_THAT(refusal(config("\"head_dim\": NaN")), Contains("head_dim is \"NaN\""));
}

TEST_CASE("model: the dtype is read, and assumed aloud") {
  const std::string sizes = R"({"num_hidden_layers": 1, "hidden_size": 64, "num_attention_heads": 8)";
  CHECK(parse(sizes + R"(, "dtype": "float16"})").kinds[0].attention.dtype == DType::fp16);
  CHECK(parse(sizes + R"(, "torch_dtype": "torch.float32"})").kinds[0].attention.dtype == DType::fp32);
  CHECK(parse(sizes + "}").kinds[0].attention.dtype == DType::bf16);
  CHECK(parse(sizes + "}").remarks == std::vector<std::string>{"torch_dtype is not in the file: bf16 assumed"});
  CHECK_THAT(refusal(sizes + R"(, "torch_dtype": "float8_e4m3fn"})"),
             Contains("torch_dtype is \"float8_e4m3fn\", expected bfloat16"));
}

TEST_CASE("model: layer_types say which layers slide") {
  const std::string types =
      R"("sliding_window": 128, "layer_types": ["full_attention", "sliding_attention", "sliding_attention", )";
  const ModelShape model = parse(config(types + "\"sliding_attention\"]"));
  REQUIRE(model.kinds.size() == 2);
  CHECK(model.kinds[0].name == "sliding");  // most layers first
  CHECK(model.kinds[0].layers == Layers{1, 2, 3});
  CHECK(model.kinds[0].attention == softmax(8, 8, 8, 8, window_rule(128)));
  CHECK(model.kind("full").layers == Layers{0});
  CHECK(model.kind("full").attention.mask == MaskRule{});
  CHECK_THROWS_WITH(model.kind("linear"), Contains("it has: sliding, full"));
  CHECK_THAT(refusal(config(types + "\"strange\"]")), Contains("f: layer_types[3] is \"strange\", expected full_attention"));
  CHECK_THAT(refusal(config(types + "null]")), Contains("f: layer_types[3] is null"));
  CHECK_THAT(refusal(config(R"("layer_types": ["full_attention"])")), Contains("layer_types has 1 entries for 4 layers"));
  CHECK_THAT(refusal(config(R"("layer_types": ["sliding_attention", "full_attention", "full_attention", "full_attention"])")),
             Contains("sliding_window is missing"));
  CHECK_THAT(refusal(config("\"use_sliding_window\": false, " + types + "\"full_attention\"]")),
             Contains("layer_types[1] slides, but"));
}

TEST_CASE("model: chunked layers are named by layer_types, or by what Llama 4 says of rotary embedding") {
  const std::string size = "\"attention_chunk_size\": 64, ";
  const std::string types =
      R"("layer_types": ["chunked_attention", "chunked_attention", "chunked_attention", "full_attention"])";
  const ModelShape model = parse(config(size + types));
  REQUIRE(model.kinds.size() == 2);
  CHECK(model.kinds[0].name == "chunked");
  CHECK(model.kinds[0].layers == Layers{0, 1, 2});
  CHECK(model.kinds[0].attention == softmax(8, 8, 8, 8, block_rule(64)));
  CHECK(model.kind("full").attention.mask == MaskRule{});
  CHECK_THAT(refusal(config(types)), Contains("attention_chunk_size is missing"));

  const ModelShape flags = parse(config(size + R"("no_rope_layers": [1, 0, 1, 0])", "llama4_text"));
  CHECK(flags.kind("chunked").layers == Layers{0, 2});
  CHECK(flags.kind("full").layers == Layers{1, 3});
  CHECK_THAT(flags.remarks.front(), Contains("configuration_llama4.py"));
  CHECK(parse(config(size + "\"no_rope_layer_interval\": 4", "llama4_text")).kind("full").layers == Layers{3});
  CHECK_THAT(refusal(config(size + R"("no_rope_layers": [1, 0, 2, 0])", "llama4_text")), Contains("no_rope_layers[2] is 2"));
  CHECK_THAT(refusal(config(size + R"("no_rope_layers": [1, 0])", "llama4_text")), Contains("no_rope_layers has 2 entries"));
  CHECK_THAT(refusal(config(size + "\"no_rope_layers\": [1, 0, 1, 0]", "other")),
             Contains("which layers are chunked is not in"));
  CHECK_THAT(refusal(config(size + "\"no_rope_layers\": []", "llama4_text")), Contains("which layers are chunked is not in"));
}

TEST_CASE("model: use_sliding_window switches the window off, or on from max_window_layers") {
  const ModelShape off = parse(config("\"sliding_window\": 131072, \"use_sliding_window\": false", "qwen2"));
  CHECK(off.kinds[0].name == "full");
  CHECK_THAT(off.remarks.front(), Contains("is off"));
  const std::string on = "\"sliding_window\": 32, \"use_sliding_window\": true";
  const ModelShape upper = parse(config(on + ", \"max_window_layers\": 3", "qwen2"));
  CHECK(upper.kind("sliding").layers == Layers{3});
  CHECK(parse(config(on + ", \"max_window_layers\": 0", "qwen2")).kinds.size() == 1);
  CHECK_THAT(refusal(config(on, "qwen2")), Contains("max_window_layers is missing"));
  CHECK_THAT(refusal(config("\"sliding_window\": null, \"use_sliding_window\": true", "qwen2")),
             Contains("sliding_window is missing"));
}

TEST_CASE("model: which layers slide comes from a pattern, from a known family, or is refused") {
  CHECK(parse(config("\"sliding_window\": 32, \"sliding_window_pattern\": 3", "gemma3_text")).kind("full").layers == Layers{2});
  CHECK(parse(config("\"sliding_window\": 32", "gemma2")).kind("sliding").layers == Layers{0, 2});
  CHECK_THAT(parse(config("\"sliding_window\": 32", "gemma2")).remarks.front(), Contains("configuration_gemma2.py"));
  CHECK(parse(config("\"sliding_window\": 32", "gpt_oss")).kind("full").layers == Layers{1, 3});
  CHECK(parse(config("\"sliding_window\": 32", "gemma3")).kinds.size() == 1);  // 4 layers: the 6th would be full
  CHECK(parse(config("\"sliding_window\": 32", "mistral")).kind("sliding").layers.size() == 4);
  CHECK(parse(config("\"sliding_window\": null", "mistral")).kind("full").layers.size() == 4);
  CHECK_THAT(refusal(config("", "gemma2")), Contains("sliding_window is missing or null"));
  CHECK_THAT(refusal(config("\"sliding_window\": 32", "unheard")),
             Contains("not known of model_type \"unheard\"") && Contains("give layer_types"));
  CHECK_THAT(refusal(config("\"sliding_window\": 32, \"sliding_window_pattern\": \"LLLG\"", "exaone4")),
             Contains("sliding_window_pattern is \"LLLG\""));
}

TEST_CASE("model: layers with sizes of their own (MiMo-V2, Gemma-4)") {
  const ModelShape mimo = parse(config(R"("num_key_value_heads": 2, "head_dim": 12, "v_head_dim": 8, "sliding_window": 16,
      "attention_chunk_size": 16, "swa_num_attention_heads": 16, "swa_num_key_value_heads": 4, "swa_head_dim": 6, "swa_v_head_dim": 5,
      "hybrid_layer_pattern": [0, 1, 1, 0])",
                                       "mimo_v2_flash"));
  CHECK(mimo.kind("full").attention == softmax(8, 2, 12, 8));
  CHECK(mimo.kind("sliding").attention == softmax(16, 4, 6, 5, window_rule(16)));
  CHECK(mimo.kind("sliding").layers == Layers{1, 2});
  CHECK_THAT(refusal(config("\"hybrid_layer_pattern\": [0, 1, 2, 0], \"sliding_window\": 16", "mimo_v2_flash")),
             Contains("hybrid_layer_pattern[2] is 2"));
  CHECK_THAT(refusal(config("\"hybrid_layer_pattern\": [0, 1, 1, 0], \"sliding_window\": 16", "other")),
             Contains("mimo_v2 only"));

  const ModelShape gemma =
      parse(config(R"("num_key_value_heads": 4, "head_dim": 16, "global_head_dim": 32, "attention_k_eq_v": true,
      "num_global_key_value_heads": 2, "sliding_window": 16, "num_kv_shared_layers": 0,
      "layer_types": ["sliding_attention", "sliding_attention", "sliding_attention", "full_attention"])",
                   "gemma4_text"));
  CHECK(gemma.kind("full").attention == softmax(8, 2, 32, 32));
  CHECK(gemma.kind("sliding").attention == softmax(8, 4, 16, 16, window_rule(16)));
}

TEST_CASE("model: multi-head latent attention has one KV head per query head and two widths") {
  const std::string mla = R"("kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 96)";
  const ModelShape model = parse(config(mla + R"(, "num_key_value_heads": 2, "head_dim": 7)", "deepseek_v3"));
  CHECK(model.kinds[0].attention == softmax(8, 8, 192, 96));
  CHECK_THAT(model.remarks.front(), Contains("num_key_value_heads 2 is ignored") && Contains("head_dim 7 is ignored"));
  CHECK_THAT(refusal(config("\"kv_lora_rank\": 512, \"qk_nope_head_dim\": 128, \"qk_rope_head_dim\": 64")),
             Contains("v_head_dim is missing"));
}

TEST_CASE("model: MiniMax-Text-01's linear layers have as many kv heads as heads, and decay") {
  const std::string own_keys =
      R"("num_key_value_heads": 2, "linear_attn_alpha_factor": 3.5, "full_attn_beta_factor": 1.0, "block_size": 256, )";
  const std::string types = R"("layer_types": ["linear_attention", "linear_attention", "linear_attention", "full_attention"])";
  const ModelShape model = parse(config(own_keys + types, "minimax"));
  const LayerKind& linear = model.kind("linear");
  const AttentionShape& full = model.kind("full").attention;
  CHECK(linear.layers == Layers{0, 1, 2});
  CHECK(linear.attention == AttentionShape{AttentionKind::linear, full.query_heads, full.query_heads, full.qk_dim, full.qk_dim,
                                           DType::bf16, MaskRule{}, 1.0});
  CHECK(full.kv_heads < full.query_heads);
  CHECK(full.decay == 0);
  CHECK_THAT(model.remarks.front(), Contains("all decay as layer 0 (decay 1)"));
  CHECK_THAT(refusal(config("\"block_size\": 256")), Contains("block_size"));  // of other models it may mean sparsity
}

TEST_CASE("model: linear layers have the heads of their values") {
  const std::string sizes =
      R"("linear_num_key_heads": 4, "linear_num_value_heads": 12, "linear_key_head_dim": 16, "linear_value_head_dim": 32, )";
  const ModelShape model = parse(config(sizes + "\"full_attention_interval\": 4", "qwen3_next"));
  const LayerKind& linear = model.kind("linear");
  CHECK(linear.layers == Layers{0, 1, 2});
  CHECK(linear.attention == AttentionShape{AttentionKind::linear, 12, 12, 16, 32, DType::bf16, MaskRule{}});
  CHECK(model.kind("full").layers == Layers{3});
  CHECK_THAT(model.remarks.front(), Contains("4 q and k heads are repeated to the 12 v heads"));
  CHECK_THAT(model.remarks.back(), Contains("delta rule") && Contains("not modelled"));
  CHECK_THAT(refusal(config("\"full_attention_interval\": 2")), Contains("linear_num_key_heads is missing"));
  CHECK_THAT(refusal(config(sizes + "\"x\": 1")), Contains("which layers are linear is not in the file"));
}

TEST_CASE("model: a hybrid pattern of Mamba, attention and MLP layers") {
  const std::string sizes =
      R"("mamba_num_heads": 16, "ssm_state_size": 32, "mamba_head_dim": 4, "n_groups": 8, "attention_head_dim": 10, )";
  const ModelShape model = parse(config(sizes + "\"hybrid_override_pattern\": \"M*-E\"", "nemotron_h"));
  CHECK(model.kind("linear").attention == AttentionShape{AttentionKind::linear, 16, 16, 32, 4, DType::bf16, MaskRule{}});
  CHECK(model.kind("linear").layers == Layers{0});
  CHECK(model.kind("full").attention == softmax(8, 8, 10, 10));
  CHECK(model.kind("full").layers == Layers{1});
  CHECK_THAT(model.remarks.back(), Contains("2 of 4 layers have no attention"));
  CHECK_THAT(refusal(config(sizes + "\"hybrid_override_pattern\": \"M*-X\"")), Contains("hybrid_override_pattern[3] is \"X\""));
  CHECK_THAT(refusal(config(sizes + "\"hybrid_override_pattern\": \"M*\"")), Contains("has 2 letters for 4 layers"));
  CHECK_THAT(refusal(config(sizes + "\"hybrid_override_pattern\": \"----\"")), Contains("no layer has attention"));
}

TEST_CASE("model: block_configs give KV heads layer by layer and may remove attention") {
  const auto block = [](const std::string& attention) { return "{\"attention\": {" + attention + "}, \"ffn\": {}}"; };
  const std::string kept = block("\"n_heads_in_group\": 4, \"no_op\": false, \"sparsify\": null");
  const std::string removed = block("\"n_heads_in_group\": null, \"no_op\": true");
  const std::string wider = block("\"n_heads_in_group\": 8");
  const auto blocks = [&](const std::string& last) {
    return config("\"num_key_value_heads\": null, \"block_configs\": [" + kept + "," + removed + "," + kept + "," + last + "]");
  };
  const ModelShape model = parse(blocks(wider));
  REQUIRE(model.kinds.size() == 2);
  CHECK(model.kinds[0].attention == softmax(8, 2, 8, 8));
  CHECK(model.kinds[0].layers == Layers{0, 2});
  CHECK(model.kinds[1].name == "full-8/1");
  CHECK(model.kinds[1].layers == Layers{3});
  CHECK_THAT(refusal(blocks(block("\"n_heads_in_group\": 3"))), Contains("block_configs[3].attention.n_heads_in_group is 3"));
  CHECK_THAT(refusal(blocks(block("\"n_heads_in_group\": null"))),
             Contains("block_configs[3].attention.n_heads_in_group is null"));
  CHECK_THAT(refusal(blocks(block("\"n_heads_in_group\": 4, \"window_length\": 512"))),
             Contains("block_configs[3].attention.window_length is 512, which is not supported"));
  CHECK_THAT(refusal(blocks("7")), Contains("block_configs[3] is 7"));
}

TEST_CASE("model: attention that hsap does not model is refused with the key and what would work") {
  CHECK_THAT(refusal(config("\"index_topk\": 2048")), Contains("index_topk is 2048: sparse attention") && Contains("dense"));
  CHECK_THAT(refusal(config("\"compress_ratios\": [4, 4]")), Contains("compress_ratios is an array: compressed attention"));
  CHECK_THAT(refusal(config("\"attention_chunk_size\": 8192")),
             Contains("attention_chunk_size is 8192: which layers are chunked is not in the file") && Contains("null"));
  CHECK_THAT(refusal(config("\"sparse_attention_config\": {\"use_sparse_attention\": true}")),
             Contains("sparse_attention_config"));
  CHECK(refusal(config("\"sparse_attention_config\": {\"use_sparse_attention\": false}")) == "accepted");
  CHECK_THAT(refusal(config("\"num_key_value_heads\": 4, \"num_global_key_value_heads\": 2")),
             Contains("num_global_key_value_heads is 2 without attention_k_eq_v"));
  CHECK_THAT(refusal(config("\"num_kv_shared_layers\": 2")), Contains("num_kv_shared_layers is 2"));
  CHECK_THAT(refusal(config("\"is_encoder_decoder\": true")), Contains("decoder-only"));
  CHECK_THAT(refusal(config("\"architectures\": [\"BertForMaskedLM\"]")), Contains("architectures names \"BertForMaskedLM\""));
  CHECK_THAT(refusal(config("\"use_bidirectional_attention\": \"all\"")), Contains("only causal attention"));
}

TEST_CASE("model: an unknown key that speaks of attention is refused, one that is off or speaks of something else is not") {
  CHECK_THAT(refusal(config("\"attn_type_list\": [0, 1, 1, 1]")),
             Contains("attn_type_list is an array: this key speaks of attention"));
  CHECK_THAT(refusal(config("\"window_size\": 256")), Contains("window_size is 256"));
  CHECK(refusal(config("\"window_size\": null, \"use_mla\": false, \"attention_dropout\": 0.1, \"use_flash_attn\": true")) ==
        "accepted");
}

TEST_CASE("model: presets are found in any case, and an unknown name lists them") {
  for (const std::string& name : model_preset_names()) {
    CAPTURE(name);
    const ModelShape model = model_preset(name);
    CHECK(model.name == name);
    CHECK_FALSE(model.kinds.empty());
  }
  CHECK(model_preset("llama-3.1-8b").kinds[0].attention == softmax(32, 8, 128, 128));
  CHECK(model_preset("DEEPSEEK-V3").kinds[0].attention == softmax(128, 128, 192, 128));
  CHECK(model_preset("Gemma-3-4B").kind("full").layers == Layers{5, 11, 17, 23, 29});
  CHECK(model_preset("gpt-oss-120b").kind("full").layers.front() == 1);
  CHECK_THROWS_WITH(model_preset("Llama-9"),
                    Contains("built-in models: Llama-3.1-8B, Llama-3.1-70B, Llama-2-13B") && Contains("Qwen3.5-27B"));
}

TEST_CASE("B1 (LongPO 5): 28 query and 4 KV heads allow head-parallel degrees 1, 2, 4 and 28, not 8") {
  CHECK(head_parallel_degrees(softmax(28, 4, 128, 128)) == Layers{1, 2, 4, 28});
}

TEST_CASE("B4 (verl 1226): 40 query and 8 KV heads allow 40, not 16") {
  CHECK(head_parallel_degrees(softmax(40, 8, 128, 128)) == Layers{1, 2, 4, 8, 40});
}

TEST_CASE("head-parallel degrees of one KV head and of as many as query heads are the divisors of the query heads") {
  CHECK(head_parallel_degrees(softmax(12, 1, 64, 64)) == Layers{1, 2, 3, 4, 6, 12});
  CHECK(head_parallel_degrees(softmax(12, 12, 64, 64)) == Layers{1, 2, 3, 4, 6, 12});
}

TEST_CASE("linear counterpart: the same heads and widths without softmax and under the causal mask") {
  const AttentionShape linear = linear_counterpart(softmax(8, 2, 12, 10, window_rule(128)));
  CHECK(linear == AttentionShape{AttentionKind::linear, 8, 2, 12, 10, DType::bf16, MaskRule{}});
}

}  // namespace
}  // namespace hsap
