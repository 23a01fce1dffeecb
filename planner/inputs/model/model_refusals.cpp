#include "planner/inputs/model/model_refusals.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "planner/inputs/input_json.hpp"
#include "planner/inputs/input_text.hpp"

namespace hsap {

namespace {

struct Refusal {
  std::string_view key;
  std::string_view advice;
};

/// Keys that ask for attention which hsap does not model, with what to do; looked for in this order.
constexpr std::array kRefusals = {
    Refusal{"compress_ratios",
            "compressed attention is not supported; hsap plans models with full, sliding or linear attention"},
    Refusal{"index_topk",
            "sparse attention by a top-k indexer is not supported; remove the index keys to plan it as dense attention"},
    Refusal{"linear_attn_config", "this description of linear layers is not supported; give layer_types and the linear_ sizes"},
    Refusal{"num_kv_shared_layers",
            "layers that use another layer's keys and values are not supported; set it to 0 to plan without"},
    Refusal{"use_cla", "layers that use another layer's keys and values are not supported; set it to false to plan without"},
    Refusal{"is_encoder_decoder", "cross attention is not supported; hsap plans decoder-only models"},
    Refusal{"add_cross_attention", "cross attention is not supported; hsap plans decoder-only models"},
};

// clang-format off
/// Words that make a key speak of the kind of attention.
constexpr std::array<std::string_view, 25> kAttentionWords = {
    "attention", "attn", "window", "sliding", "sparse", "sparsity", "chunk", "chunked", "compress", "compressed", "indexer", "linear",
    "lightning", "mamba", "ssm", "hybrid", "pattern", "recurrent", "retention", "kda", "mla", "nsa", "moba", "mixer", "block"};

/// Words that make such a key harmless: it leaves which tokens see which, the heads and the widths alone.
constexpr std::array<std::string_view, 25> kHarmlessWords = {
    "dropout", "pdrop", "bias", "implementation", "norm", "scale", "scalar", "multiplier", "logit", "softcapping", "softmax", "gate", "probs",
    "output", "outputs", "dtype", "flash", "logn", "rope", "cache", "kernels", "moe", "router", "expert", "experts"};

/// Keys that the readers of this folder use, and keys with such a word that have nothing to do with attention.
constexpr std::array<std::string_view, 32> kKnownKeys = {
    "layer_types", "sliding_window", "use_sliding_window", "max_window_layers", "sliding_window_pattern", "_sliding_window_pattern",
    "sliding_window_size", "attention_chunk_size", "hybrid_layer_pattern", "hybrid_override_pattern", "block_configs",
    "full_attention_interval", "num_attention_heads", "attention_head_dim", "swa_num_attention_heads", "multi_query_attention",
    "attention_k_eq_v", "use_bidirectional_attention", "sparse_attention_config", "linear_num_key_heads", "linear_num_value_heads",
    "linear_key_head_dim", "linear_value_head_dim", "linear_conv_kernel_dim", "mamba_num_heads", "mamba_head_dim", "ssm_state_size",
    "mamba_hidden_act", "chunk_size", "chunk_size_feed_forward", "parallel_attn", "decoder_sparse_step"};

/// Keys of model_type minimax that weigh residuals, or say in which chunks linear attention is computed.
constexpr std::array<std::string_view, 5> kMinimaxKeys = {
    "full_attn_alpha_factor", "full_attn_beta_factor", "linear_attn_alpha_factor", "linear_attn_beta_factor", "block_size"};
// clang-format on

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// A key of words joined by "_", of which one speaks of attention and none makes it harmless.
bool speaks_of_attention(std::string_view key) {
  bool speaks = false;
  while (!key.empty()) {
    const std::size_t end = std::min(key.find('_'), key.size());
    const std::string_view word = key.substr(0, end);
    if (contains(kHarmlessWords, word)) return false;
    speaks = speaks || contains(kAttentionWords, word);
    key.remove_prefix(std::min(end + 1, key.size()));
  }
  return speaks;
}

/// Gemma-4 uses the full layers' own number of KV heads where k and v are one tensor; what it means elsewhere is open.
void refuse_global_kv_heads(const ConfigObject& config) {
  const auto global = config.optional_number("num_global_key_value_heads");
  if (global && !config.flag("attention_k_eq_v") && global != config.optional_number("num_key_value_heads"))
    throw config.error("num_global_key_value_heads",
                       "is " + std::to_string(*global) +
                           " without attention_k_eq_v, which is not understood; set it to null if the "
                           "full layers have num_key_value_heads");
}

}  // namespace

void refuse_unsupported_attention(const ConfigObject& config, const ConfigObject& whole_file) {
  for (const Refusal& refusal : kRefusals)
    for (const ConfigObject* object : {&config, &whole_file})
      if (object->active(refusal.key))
        throw object->error(refusal.key,
                            "is " + shown(object->json().at(std::string(refusal.key))) + ": " + std::string(refusal.advice));
  if (config.active("sparse_attention_config") && config.object("sparse_attention_config").active("use_sparse_attention"))
    throw config.error(
        "sparse_attention_config",
        "asks for sparse attention, which is not supported; set its use_sparse_attention to false to plan full attention");
  refuse_global_kv_heads(config);
  if (config.active("use_bidirectional_attention") && config.text("use_bidirectional_attention") != "vision")
    throw config.error("use_bidirectional_attention",
                       "is " + shown(config.json().at("use_bidirectional_attention")) +
                           ": only causal attention is supported, for text at least (\"vision\")");
  if (const auto classes = whole_file.json().find("architectures"); classes != whole_file.json().end() && classes->is_array())
    for (const auto& name : *classes)
      if (name.is_string() && name.get_ref<const std::string&>().ends_with("ForMaskedLM"))
        throw whole_file.error("architectures", "names " + shown(name) + ", an encoder; hsap plans causal attention");
  const bool minimax = config.text("model_type") == "minimax";
  for (const auto& [key, value] : config.json().items())
    if (config.active(key) && speaks_of_attention(key) && !contains(kKnownKeys, key) &&
        !(minimax && contains(kMinimaxKeys, key)))
      throw config.error(key, "is " + shown(value) +
                                  ": this key speaks of attention and is not understood; remove it if the layers' "
                                  "attention does not depend on it");
}

void remark_unmodelled_details(const ConfigObject& config, const std::string& model_type, std::vector<std::string>& remarks) {
  if (model_type == "gpt_oss" || config.flag("add_swa_attention_sink_bias") || config.flag("add_full_attention_sink_bias"))
    remarks.push_back("attention sinks are not modelled: one learned number per head, no bytes to exchange");
  if (config.active("attn_logit_softcapping")) remarks.push_back("soft-capping of attention logits is not modelled");
  if (config.flag("attn_output_gate")) remarks.push_back("the gate on the attention's output is not modelled");
  if (config.text("use_bidirectional_attention") == "vision")
    remarks.push_back("attention is causal for text; image tokens that see each other both ways are not modelled");
  for (const std::string_view key : {"num_nextn_predict_layers", "mtp_num_hidden_layers"})
    if (config.active(key)) remarks.push_back("layers for multi-token prediction (" + std::string(key) + ") are not counted");
}

}  // namespace hsap
