#include "planner/inputs/model/model_linear.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "planner/inputs/input_json.hpp"
#include "planner/inputs/input_text.hpp"

namespace hsap {

namespace {

constexpr std::array<std::string_view, 4> kExpertCounts = {"num_experts", "num_local_experts", "n_routed_experts",
                                                           "moe_num_experts"};

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

double hidden_of(const ConfigObject& config) { return config.required_number({"hidden_size", "n_embd", "d_model"}).value; }

// Projections around attention.

/// Queries and keys are projected down to a latent and up again (DeepSeek-V2, section 2.1; Transformers:
/// modeling_deepseek_v3.py). q_lora_rank null: queries are projected in one step.
double latent_projections(const ConfigObject& config, const AttentionShape& shape) {
  const double hidden = hidden_of(config);
  const double heads = shape.query_heads;
  const double kv_rank = config.number("kv_lora_rank"), rope = config.number("qk_rope_head_dim");
  if (!config.has("q_lora_rank"))
    throw config.error("q_lora_rank", "is missing, expected a whole number, or null for queries without a latent");
  const auto q_rank = config.optional_number("q_lora_rank");
  const double q = q_rank ? *q_rank * (hidden + heads * shape.qk_dim) : hidden * heads * shape.qk_dim;
  const double kv = hidden * (kv_rank + rope) + kv_rank * heads * (config.number("qk_nope_head_dim") + shape.v_dim);
  return q + kv + heads * shape.v_dim * hidden;
}

/// An output gate doubles the query projection (Transformers: modeling_qwen3_next.py, modeling_qwen3_5.py).
double softmax_projections(const ConfigObject& config, const std::string& model_type, Mixer mixer,
                           const AttentionShape& shape) {
  const bool gated = config.flag("attn_output_gate") || model_type.starts_with("qwen3_next");
  const bool k_is_v = mixer == Mixer::full && config.flag("attention_k_eq_v");
  const double q_width = (gated ? 2.0 : 1.0) * shape.query_heads * shape.qk_dim;
  const double kv_width = static_cast<double>(shape.kv_heads) * (shape.qk_dim + (k_is_v ? 0 : shape.v_dim));
  return hidden_of(config) * (q_width + kv_width + static_cast<double>(shape.query_heads) * shape.v_dim);
}

/// q, k, v and the output gate, two numbers per v head, and the output (Transformers: modeling_qwen3_next.py,
/// Qwen3NextGatedDeltaNet).
double delta_projections(const ConfigObject& config, const AttentionShape& shape) {
  const double keys = static_cast<double>(config.number("linear_num_key_heads")) * shape.qk_dim;
  const double values = static_cast<double>(shape.kv_heads) * shape.v_dim;
  return hidden_of(config) * (2 * keys + 2 * values + 2.0 * shape.kv_heads + values);
}

/// q, k, v, output gate and output, all of one width (Transformers: modeling_minimax.py, MiniMaxLightningAttention).
double lightning_projections(const ConfigObject& config, const AttentionShape& shape) {
  return hidden_of(config) * 5 * shape.query_heads * shape.v_dim;
}

/// x and its gate, B and C of each group, a time step per head, and the output (Transformers: modeling_nemotron_h.py,
/// modeling_mamba2.py).
double mamba_projections(const ConfigObject& config, const AttentionShape& shape) {
  const double inner = static_cast<double>(shape.query_heads) * shape.v_dim;
  return hidden_of(config) * (2 * inner + 2.0 * config.number("n_groups") * shape.qk_dim + shape.query_heads + inner);
}

double projections(const ConfigObject& config, const std::string& model_type, Mixer mixer, const AttentionShape& shape) {
  if (mixer == Mixer::delta) return delta_projections(config, shape);
  if (mixer == Mixer::lightning) return lightning_projections(config, shape);
  if (mixer == Mixer::mamba) return mamba_projections(config, shape);
  return config.active("kv_lora_rank") ? latent_projections(config, shape)
                                       : softmax_projections(config, model_type, mixer, shape);
}

// MLP.

/// Matrices of an MLP: gate, up and down, or up and down. Which of the two is in the model's code, not in its file.
double mlp_matrices(const ConfigObject& config, const std::string& model_type) {
  constexpr std::array<std::string_view, 15> kPlain = {
      "gpt2", "gpt_bigcode", "gpt_neo", "gpt_neox", "gptj", "falcon",   "RefinedWeb", "RefinedWebModel",
      "phi",  "starcoder2",  "opt",     "bloom",    "mpt",  "nemotron", "nemotron_h"};
  constexpr std::array<std::string_view, 17> kGated = {"llama",    "mistral", "mixtral", "qwen", "gemma",   "gpt_oss",
                                                       "deepseek", "kimi",    "minimax", "mimo", "step",    "nemotron-nas",
                                                       "phi3",     "phimoe",  "glm",     "olmo", "internlm"};
  if (contains(kPlain, model_type)) return 2;
  const bool gated = std::any_of(kGated.begin(), kGated.end(), [&](auto family) { return model_type.starts_with(family); });
  if (gated || config.text("hidden_act") == "silu") return 3;
  throw config.error("model_type", "is " + shown(std::string_view(model_type)) +
                                       ", of which it is not known whether the MLP has a gate; expected a known family, or "
                                       "hidden_act silu");
}

double mlp_of_width(const ConfigObject& config, const std::string& model_type, double width) {
  return mlp_matrices(config, model_type) * hidden_of(config) * width;
}

/// Where the file leaves it open, these families take four times the width of the model (their configuration classes in
/// Transformers; RefinedWeb: the code of the model's repository).
double mlp_width(const ConfigObject& config, const std::string& model_type) {
  constexpr std::array<std::string_view, 8> kFourfold = {"gpt2",  "gpt_bigcode", "gpt_neo",    "gptj",
                                                         "bloom", "falcon",      "RefinedWeb", "RefinedWebModel"};
  for (const std::string_view key : {"n_inner", "ffn_hidden_size", "intermediate_size"})
    if (contains(kFourfold, model_type) && config.optional_number(key)) return *config.optional_number(key);
  if (contains(kFourfold, model_type)) return 4 * hidden_of(config);
  return config.required_number({"intermediate_size", "ffn_hidden_size", "ffn_dim"}).value;
}

/// Nemotron-NAS: width int(2 x ffn_mult x hidden / 3), rounded up to a multiple of 256; a layer's MLP may be left out or
/// replaced by one matrix (modeling_decilm.py of the model's repository).
double block_mlp(const ConfigObject& config, const std::string& model_type, int layer) {
  const std::string place = "block_configs[" + std::to_string(layer) + "]";
  const ConfigObject block(config.json().at("block_configs")[static_cast<std::size_t>(layer)], config.file(),
                           config.full_key(place));
  const ConfigObject ffn = block.object("ffn");
  const double hidden = hidden_of(config);
  if (ffn.flag("no_op")) return 0;
  if (ffn.flag("replace_with_linear")) return hidden * hidden;
  const auto factor = ffn.json().find("ffn_mult");
  if (factor == ffn.json().end() || !factor->is_number())
    throw ffn.error("ffn_mult", factor == ffn.json().end() ? "is missing, expected a number"
                                                           : "is " + shown(*factor) + ", expected a number");
  constexpr std::int64_t kMultiple = 256;
  const auto width = static_cast<std::int64_t>(2 * factor->get<double>() * hidden / 3);
  return mlp_of_width(config, model_type, static_cast<double>((width + kMultiple - 1) / kMultiple * kMultiple));
}

// Experts.

/// Families whose intermediate_size is an expert's width (Transformers: modeling_mixtral.py, modeling_gpt_oss.py,
/// modeling_minimax.py, modeling_phimoe.py, modeling_llama4.py).
bool experts_are_the_mlp(const std::string& model_type) {
  return model_type == "mixtral" || model_type == "gpt_oss" || model_type.starts_with("minimax") || model_type == "phimoe" ||
         model_type.starts_with("llama4");
}

std::optional<double> expert_count(const ConfigObject& config) {
  if (config.has("enable_moe_block") && !config.flag("enable_moe_block")) return std::nullopt;
  for (const std::string_view key : kExpertCounts)
    if (config.active(key)) return config.number(key);
  return std::nullopt;
}

/// `key` is a list of layers that has this one.
bool lists(const ConfigObject& config, std::string_view key, int layer) {
  const nlohmann::json& list = config.json().at(std::string(key));
  if (!list.is_array()) throw config.error(key, "is " + shown(list) + ", expected a list of layers");
  return std::find(list.begin(), list.end(), layer) != list.end();
}

/// The entry of `layer` in the list `key` of all layers.
const nlohmann::json& entry_of(const ConfigObject& config, std::string_view key, int layer) {
  const nlohmann::json& list = config.json().at(std::string(key));
  if (static_cast<std::size_t>(layer) >= list.size())
    throw config.error(key, "has " + std::to_string(list.size()) + " entries, none for layer " + std::to_string(layer) +
                                "; expected one per layer");
  return list[static_cast<std::size_t>(layer)];
}

/// Whether the layer has experts in a model that has some. All of a file's rules must agree on it (Transformers:
/// modeling_deepseek_v3.py, modeling_qwen3_moe.py, modeling_llama4.py, modeling_glm4_moe.py, and MiMo-V2's own code).
bool has_experts(const ConfigObject& config, int layer) {
  if (config.active("mlp_layer_types")) return entry_of(config, "mlp_layer_types", layer) == "sparse";
  if (config.active("moe_layers")) return lists(config, "moe_layers", layer);
  if (config.active("interleave_moe_layer_step") && (layer + 1) % config.number("interleave_moe_layer_step") != 0) return false;
  if (config.active("first_k_dense_replace") && layer < config.number("first_k_dense_replace")) return false;
  if (config.active("moe_layer_freq")) {
    const bool is_list = config.json().at("moe_layer_freq").is_array();
    if (is_list && entry_of(config, "moe_layer_freq", layer) == 0) return false;
    if (!is_list && layer % config.number("moe_layer_freq") != 0) return false;
  }
  if (config.active("mlp_only_layers") && lists(config, "mlp_only_layers", layer)) return false;
  return !config.active("decoder_sparse_step") || (layer + 1) % config.number("decoder_sparse_step") == 0;
}

/// Experts that every token visits.
double shared_experts(const ConfigObject& config, const std::string& model_type, double expert_width) {
  if (model_type.starts_with("llama4")) return mlp_of_width(config, model_type, expert_width);
  if (config.active("shared_expert_intermediate_size"))  // and one number that weighs it (modeling_qwen2_moe.py)
    return mlp_of_width(config, model_type, config.number("shared_expert_intermediate_size")) + hidden_of(config);
  for (const std::string_view key : {"share_expert_dim", "shared_intermediate_size"})
    if (config.active(key)) return mlp_of_width(config, model_type, config.number(key));
  for (const std::string_view key : {"n_shared_experts", "num_shared_experts"})
    if (config.active(key)) return mlp_of_width(config, model_type, config.number(key) * expert_width);
  return 0;
}

double expert_parameters(const ConfigObject& config, const std::string& model_type, double experts) {
  const double width = config.active("moe_intermediate_size") || !experts_are_the_mlp(model_type)
                           ? config.number("moe_intermediate_size")
                           : config.number("intermediate_size");
  const int visited = config.required_number({"num_experts_per_tok", "experts_per_token", "top_k_experts"}).value;
  const double beside = config.flag("enable_moe_block")  // Gemma 4: an MLP of its own beside the experts
                            ? mlp_of_width(config, model_type, mlp_width(config, model_type))
                            : 0;
  return hidden_of(config) * experts + visited * mlp_of_width(config, model_type, width) +
         shared_experts(config, model_type, width) + beside;
}

/// Llama 4's layers without experts have a width of their own (modeling_llama4.py).
double dense_width(const ConfigObject& config, const std::string& model_type) {
  return model_type.starts_with("llama4") ? config.number("intermediate_size_mlp") : mlp_width(config, model_type);
}

double mlp_parameters(const ConfigObject& config, const std::string& model_type, int layer) {
  if (config.active("hybrid_override_pattern")) return 0;  // MLPs and experts are layers of their own there
  if (config.active("block_configs")) return block_mlp(config, model_type, layer);
  const auto experts = expert_count(config);
  return experts && has_experts(config, layer) ? expert_parameters(config, model_type, *experts)
                                               : mlp_of_width(config, model_type, dense_width(config, model_type));
}

}  // namespace

double linear_parameters(const ConfigObject& config, const std::string& model_type, Mixer mixer, const AttentionShape& shape,
                         int layer) {
  return projections(config, model_type, mixer, shape) + mlp_parameters(config, model_type, layer);
}

}  // namespace hsap
