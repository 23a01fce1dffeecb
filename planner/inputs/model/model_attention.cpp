#include "planner/inputs/model/model_attention.hpp"

#include <algorithm>
#include <string_view>

namespace hsap {

namespace {

using Remarks = std::vector<std::string>;

void remark_once(Remarks& remarks, const std::string& remark) {
  if (std::find(remarks.begin(), remarks.end(), remark) == remarks.end()) remarks.push_back(remark);
}

void require_divisor(const ConfigObject& config, const std::string& key, int divisor, const std::string& of_key, int number) {
  if (number % divisor != 0)
    throw config.error(key,
                       "is " + std::to_string(divisor) + ", expected a divisor of " + of_key + " " + std::to_string(number));
}

int implied_head_dim(const ConfigObject& config, const ConfigObject::Number& heads) {
  const auto hidden = config.required_number({"hidden_size", "n_embd", "d_model"});
  if (hidden.value % heads.value != 0)
    throw InvalidInput(config.file(), 0,
                       config.full_key(hidden.key) + " " + std::to_string(hidden.value) + " % " + heads.key + " " +
                           std::to_string(heads.value) + " != 0, give head_dim");
  return hidden.value / heads.value;
}

/// One KV head when the file says multi-query; the newer Falcon layout overrides it (Transformers' modeling_falcon.py).
bool is_multi_query(const ConfigObject& config) {
  return config.flag("multi_query") && !config.flag("new_decoder_architecture");
}

int kv_heads_of(const ConfigObject& config, const ConfigObject::Number& heads, int layer) {
  if (config.active("block_configs")) return kv_heads_of_block(config, layer, heads.value);
  if (is_multi_query(config)) return 1;
  const auto kv_heads = config.flag("multi_query_attention")
                            ? config.required_number({"multi_query_group_num"})
                            : config.number_called({"num_key_value_heads", "n_head_kv", "num_kv_heads"}).value_or(heads);
  require_divisor(config, kv_heads.key, kv_heads.value, heads.key, heads.value);
  return kv_heads.value;
}

/// Multi-head latent attention as training runs it: k and v are unfolded from the latent for every head (DeepSeek-V2,
/// section 2.1).
AttentionShape latent_attention(const ConfigObject& config, DType dtype, Remarks& remarks) {
  const auto heads = config.required_number({"num_attention_heads", "n_head"});
  AttentionShape shape;
  shape.query_heads = shape.kv_heads = heads.value;
  shape.qk_dim = config.number("qk_nope_head_dim") + config.number("qk_rope_head_dim");
  shape.v_dim = config.number("v_head_dim");
  shape.dtype = dtype;
  std::string remark = "MLA: k and v have one head per query head";
  for (const std::string_view key : {"num_key_value_heads", "head_dim"})
    if (const auto value = config.optional_number(key))
      remark += "; " + std::string(key) + " " + std::to_string(*value) + " is ignored";
  remark_once(remarks, remark);
  return shape;
}

/// Where layers of one kind have sizes of their own, these keys hold them (MiMo-V2: swa_*, Gemma-4: global).
struct OwnKeys {
  std::string_view heads, kv_heads, head_dim, v_head_dim;
};
constexpr OwnKeys kSlidingKeys = {"swa_num_attention_heads", "swa_num_key_value_heads", "swa_head_dim", "swa_v_head_dim"};
constexpr OwnKeys kFullKeys = {"", "num_global_key_value_heads", "global_head_dim", ""};

int width_of(const ConfigObject& config, const OwnKeys& own, const ConfigObject::Number& heads) {
  if (const auto width = config.optional_number(own.head_dim)) return *width;
  if (const auto width = config.optional_number("head_dim")) return *width;
  const auto legacy = config.number_called({"attention_head_dim", "kv_channels"});
  return legacy ? legacy->value : implied_head_dim(config, heads);
}

/// What a query sees in layers of this kind.
MaskRule mask_of(const ConfigObject& config, Mixer mixer) {
  if (mixer == Mixer::sliding) return window_rule(config.number("sliding_window"));
  return mixer == Mixer::chunked ? block_rule(config.number("attention_chunk_size")) : MaskRule{};
}

AttentionShape softmax_attention(const ConfigObject& config, Mixer mixer, int layer, DType dtype, Remarks& remarks) {
  const OwnKeys& own = mixer == Mixer::sliding ? kSlidingKeys : kFullKeys;
  const auto common_heads = config.required_number({"num_attention_heads", "n_head", "n_heads", "num_heads"});
  const auto own_heads = config.optional_number(own.heads);
  const ConfigObject::Number heads = own_heads ? ConfigObject::Number{std::string(own.heads), *own_heads} : common_heads;
  AttentionShape shape;
  shape.query_heads = heads.value;
  shape.dtype = dtype;
  if (const auto own_kv_heads = config.optional_number(own.kv_heads)) {
    shape.kv_heads = *own_kv_heads;
    require_divisor(config, std::string(own.kv_heads), shape.kv_heads, heads.key, heads.value);
  } else {
    shape.kv_heads = kv_heads_of(config, heads, layer);
  }
  shape.qk_dim = width_of(config, own, heads);
  const auto own_v_width = config.optional_number(own.v_head_dim);
  shape.v_dim = own_v_width ? *own_v_width : config.optional_number("v_head_dim").value_or(shape.qk_dim);
  shape.mask = mask_of(config, mixer);
  if (mixer == Mixer::full && config.flag("attention_k_eq_v"))
    remark_once(remarks, "full layers share one tensor for k and v (attention_k_eq_v); it is counted as two");
  return shape;
}

/// Qwen3-Next's and Qwen3.5's gated delta rule: k and q have fewer heads than v and are repeated (modeling_qwen3_next.py).
AttentionShape delta_attention(const ConfigObject& config, DType dtype, Remarks& remarks) {
  const int key_heads = config.number("linear_num_key_heads");
  AttentionShape shape;
  shape.kind = AttentionKind::linear;
  shape.query_heads = shape.kv_heads = config.number("linear_num_value_heads");
  shape.qk_dim = config.number("linear_key_head_dim");
  shape.v_dim = config.number("linear_value_head_dim");
  shape.dtype = dtype;
  require_divisor(config, "linear_num_key_heads", key_heads, "linear_num_value_heads", shape.query_heads);
  remark_once(remarks, "linear layers: " + std::to_string(key_heads) + " q and k heads are repeated to the " +
                           std::to_string(shape.query_heads) + " v heads; a head-parallel degree that does not divide " +
                           std::to_string(key_heads) + " repeats them across ranks");
  remark_once(
      remarks,
      "linear layers: gates, data-dependent decay, delta rule and convolution are not modelled, the exchange of the state is");
  return shape;
}

/// MiniMax-Text-01's Lightning Attention (Transformers: modeling_minimax.py, MiniMaxLightningAttention): q, k and v all have
/// num_attention_heads, num_key_value_heads is of the softmax layers. Layer 0 decays with the plain slopes, the last layer
/// hardly.
AttentionShape lightning_attention(const ConfigObject& config, DType dtype, Remarks& remarks) {
  const auto heads = config.required_number({"num_attention_heads"});
  AttentionShape shape;
  shape.kind = AttentionKind::linear;
  shape.query_heads = shape.kv_heads = heads.value;
  shape.qk_dim = shape.v_dim = config.active("head_dim") ? config.number("head_dim") : implied_head_dim(config, heads);
  shape.dtype = dtype;
  shape.decay = 1;
  remark_once(remarks,
              "linear layers: all decay as layer 0 (decay 1), while in the model they decay less from layer to layer; no "
              "time or byte depends on it");
  remark_once(remarks, "linear layers: the output gate is not modelled, no byte of it is exchanged");
  return shape;
}

/// Mamba-2 in its attention form: B is k, C is q, x is v (Dao and Gu, "Transformers are SSMs", 2024, section 3).
AttentionShape mamba_attention(const ConfigObject& config, DType dtype, Remarks& remarks) {
  const int groups = config.number("n_groups");
  AttentionShape shape;
  shape.kind = AttentionKind::linear;
  shape.query_heads = shape.kv_heads = config.number("mamba_num_heads");
  shape.qk_dim = config.number("ssm_state_size");
  shape.v_dim = config.number("mamba_head_dim");
  shape.dtype = dtype;
  require_divisor(config, "n_groups", groups, "mamba_num_heads", shape.query_heads);
  remark_once(remarks, "Mamba layers: " + std::to_string(groups) + " groups of B and C are repeated to the " +
                           std::to_string(shape.query_heads) + " heads; a head-parallel degree that does not divide " +
                           std::to_string(groups) + " repeats them across ranks");
  remark_once(remarks, "Mamba layers: data-dependent decay and convolution are not modelled, the exchange of the state is");
  return shape;
}

}  // namespace

AttentionShape read_attention(const ConfigObject& config, Mixer mixer, int layer, DType dtype,
                              std::vector<std::string>& remarks) {
  if (mixer == Mixer::delta) return delta_attention(config, dtype, remarks);
  if (mixer == Mixer::lightning) return lightning_attention(config, dtype, remarks);
  if (mixer == Mixer::mamba) return mamba_attention(config, dtype, remarks);
  if (!config.active("kv_lora_rank")) return softmax_attention(config, mixer, layer, dtype, remarks);
  AttentionShape shape = latent_attention(config, dtype, remarks);
  shape.mask = mask_of(config, mixer);
  return shape;
}

}  // namespace hsap
