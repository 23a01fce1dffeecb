// Built-in models: what their config.json on Hugging Face says of the sizes of a layer, read by the same reader as any file.
#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "planner/inputs/input_text.hpp"
#include "planner/inputs/model_shape.hpp"
#include "planner/ir/errors.hpp"

namespace hsap {

namespace {

struct Preset {
  std::string_view name;
  std::string_view config;  ///< source: config.json of the repository named beside it
};

constexpr std::array kPresets = {
    Preset{"Llama-3.1-8B",  // meta-llama/Meta-Llama-3.1-8B
           R"({"model_type": "llama", "num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32,
               "num_key_value_heads": 8, "torch_dtype": "bfloat16", "intermediate_size": 14336})"},
    Preset{"Llama-3.1-70B",  // meta-llama/Meta-Llama-3.1-70B
           R"({"model_type": "llama", "num_hidden_layers": 80, "hidden_size": 8192, "num_attention_heads": 64,
               "num_key_value_heads": 8, "torch_dtype": "bfloat16", "intermediate_size": 28672})"},
    Preset{"Llama-2-13B",  // meta-llama/Llama-2-13b-hf
           R"({"model_type": "llama", "num_hidden_layers": 40, "hidden_size": 5120, "num_attention_heads": 40,
               "num_key_value_heads": 40, "torch_dtype": "float16", "intermediate_size": 13824})"},
    Preset{"Qwen2.5-7B",  // Qwen/Qwen2.5-7B
           R"({"model_type": "qwen2", "num_hidden_layers": 28, "hidden_size": 3584, "num_attention_heads": 28,
               "num_key_value_heads": 4, "torch_dtype": "bfloat16", "intermediate_size": 18944})"},
    Preset{"Qwen3-8B",  // Qwen/Qwen3-8B
           R"({"model_type": "qwen3", "num_hidden_layers": 36, "hidden_size": 4096, "num_attention_heads": 32,
               "num_key_value_heads": 8, "head_dim": 128, "torch_dtype": "bfloat16", "intermediate_size": 12288})"},
    Preset{"Qwen3-235B-A22B",  // Qwen/Qwen3-235B-A22B
           R"({"model_type": "qwen3_moe", "num_hidden_layers": 94, "hidden_size": 4096, "num_attention_heads": 64,
               "num_key_value_heads": 4, "head_dim": 128, "torch_dtype": "bfloat16",
               "moe_intermediate_size": 1536, "num_experts": 128, "num_experts_per_tok": 8})"},
    Preset{"Mixtral-8x22B",  // mistralai/Mixtral-8x22B-v0.1
           R"({"model_type": "mixtral", "num_hidden_layers": 56, "hidden_size": 6144, "num_attention_heads": 48,
               "num_key_value_heads": 8, "sliding_window": null, "torch_dtype": "bfloat16",
               "intermediate_size": 16384, "num_local_experts": 8, "num_experts_per_tok": 2})"},
    Preset{"DeepSeek-V3",  // deepseek-ai/DeepSeek-V3
           R"({"model_type": "deepseek_v3", "num_hidden_layers": 61, "hidden_size": 7168, "num_attention_heads": 128,
               "num_key_value_heads": 128, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
               "v_head_dim": 128, "torch_dtype": "bfloat16", "q_lora_rank": 1536, "intermediate_size": 18432,
               "moe_intermediate_size": 2048, "n_routed_experts": 256, "num_experts_per_tok": 8, "n_shared_experts": 1,
               "first_k_dense_replace": 3})"},
    Preset{"gpt-oss-120b",  // openai/gpt-oss-120b (the file has no torch_dtype; its card says bf16 outside the experts)
           R"({"model_type": "gpt_oss", "num_hidden_layers": 36, "hidden_size": 2880, "num_attention_heads": 64,
               "num_key_value_heads": 8, "head_dim": 64, "sliding_window": 128, "sliding_window_pattern": 2,
               "torch_dtype": "bfloat16", "intermediate_size": 2880, "num_local_experts": 128, "num_experts_per_tok": 4})"},
    Preset{"Gemma-3-4B",  // google/gemma-3-4b-pt, text_config
           R"({"model_type": "gemma3_text", "num_hidden_layers": 34, "hidden_size": 2560, "num_attention_heads": 8,
               "num_key_value_heads": 4, "head_dim": 256, "sliding_window": 1024, "sliding_window_pattern": 6,
               "torch_dtype": "bfloat16", "intermediate_size": 10240})"},
    Preset{"Qwen3.5-27B",  // Qwen/Qwen3.5-27B, text_config
           R"({"model_type": "qwen3_5_text", "num_hidden_layers": 64, "hidden_size": 5120, "num_attention_heads": 24,
               "num_key_value_heads": 4, "head_dim": 256, "full_attention_interval": 4, "linear_num_key_heads": 16,
               "linear_num_value_heads": 48, "linear_key_head_dim": 128, "linear_value_head_dim": 128,
               "attn_output_gate": true, "dtype": "bfloat16", "intermediate_size": 17408})"},
};

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

}  // namespace

ModelShape model_preset(const std::string& name) {
  for (const Preset& preset : kPresets) {
    if (!equal_ignoring_case(preset.name, name)) continue;
    return parse_model_config(std::string(preset.config), std::string(preset.name));
  }
  throw InvalidInput("model " + shown(std::string_view(name)) +
                     " is neither a file nor built in; built-in models: " + listed(model_preset_names()));
}

std::vector<std::string> model_preset_names() {
  std::vector<std::string> names;
  for (const Preset& preset : kPresets) names.emplace_back(preset.name);
  return names;
}

}  // namespace hsap
