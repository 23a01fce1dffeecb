#include "planner/inputs/model/model_layers.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "planner/inputs/input_json.hpp"
#include "planner/inputs/input_text.hpp"

namespace hsap {

namespace {

using Mixers = std::vector<Mixer>;

/// How messages name one entry of a list.
std::string entry(std::string_view key, std::size_t layer) { return std::string(key) + "[" + std::to_string(layer) + "]"; }

/// What "linear_attention" means depends on the family.
Mixers from_layer_types(const ConfigObject& config, const std::string& model_type, int layers) {
  Mixers mixers;
  for (const auto& type : config.array_per_layer("layer_types", layers)) {
    if (type == "full_attention") {
      mixers.push_back(Mixer::full);
    } else if (type == "sliding_attention") {
      if (config.has("use_sliding_window") && !config.flag("use_sliding_window"))
        throw config.error(entry("layer_types", mixers.size()), "slides, but use_sliding_window is false; change one of them");
      mixers.push_back(Mixer::sliding);
    } else if (type == "chunked_attention") {
      mixers.push_back(Mixer::chunked);
    } else if (type == "linear_attention") {
      mixers.push_back(model_type == "minimax" ? Mixer::lightning : Mixer::delta);
    } else {
      throw config.error(
          entry("layer_types", mixers.size()),
          "is " + shown(type) + ", expected full_attention, sliding_attention, chunked_attention or linear_attention");
    }
  }
  return mixers;
}

/// MiMo-V2: 0 = full, 1 = sliding window (the model's own configuration class).
Mixers from_hybrid_layer_pattern(const ConfigObject& config, const std::string& model_type, int layers) {
  if (!model_type.starts_with("mimo_v2"))
    throw config.error("hybrid_layer_pattern", "is understood of model_type mimo_v2 only, found " +
                                                   shown(std::string_view(model_type)) + "; give layer_types");
  Mixers mixers;
  for (const auto& flag : config.array_per_layer("hybrid_layer_pattern", layers)) {
    if (flag != 0 && flag != 1)
      throw config.error(entry("hybrid_layer_pattern", mixers.size()),
                         "is " + shown(flag) + ", expected 0 (full) or 1 (window)");
    mixers.push_back(flag == 0 ? Mixer::full : Mixer::sliding);
  }
  return mixers;
}

/// Nemotron-H: M = Mamba-2, * = attention, - = MLP, E = experts.
Mixers from_override_pattern(const ConfigObject& config, int layers) {
  constexpr std::string_view kKey = "hybrid_override_pattern";
  const std::string pattern = config.text(kKey);
  if (pattern.size() != static_cast<std::size_t>(layers))
    throw config.error(kKey, "has " + std::to_string(pattern.size()) + " letters for " + std::to_string(layers) +
                                 " layers; expected a text with one letter per layer");
  Mixers mixers;
  for (const char letter : pattern) {
    switch (letter) {
      case 'M':
        mixers.push_back(Mixer::mamba);
        break;
      case '*':
        mixers.push_back(Mixer::full);
        break;
      case '-':
      case 'E':
        mixers.push_back(Mixer::none);
        break;
      default:
        throw config.error(entry(kKey, mixers.size()), "is " + shown(std::string_view(&letter, 1)) +
                                                           ", expected M (Mamba), * (attention), - (MLP) or E (experts)");
    }
  }
  return mixers;
}

ConfigObject attention_block(const ConfigObject& config, std::size_t layer) {
  const auto& blocks = config.json().at("block_configs");
  const std::string place = config.full_key(entry("block_configs", layer));
  if (!blocks[layer].is_object())
    throw config.error(entry("block_configs", layer), "is " + shown(blocks[layer]) + ", expected an object");
  return ConfigObject(blocks[layer], config.file(), place).object("attention");
}

/// Nemotron-NAS: a layer's attention can be kept, removed (no_op) or replaced by a linear map of each token by itself.
Mixers from_block_configs(const ConfigObject& config, int layers) {
  constexpr std::array<std::string_view, 3> kUnderstood = {"n_heads_in_group", "no_op", "replace_with_linear"};
  Mixers mixers;
  for (std::size_t layer = 0; layer < config.array_per_layer("block_configs", layers).size(); ++layer) {
    const ConfigObject attention = attention_block(config, layer);
    for (const auto& [key, value] : attention.json().items())
      if (attention.active(key) && std::find(kUnderstood.begin(), kUnderstood.end(), key) == kUnderstood.end())
        throw attention.error(key, "is " + shown(value) + ", which is not supported; expected null or false");
    mixers.push_back(attention.flag("no_op") || attention.flag("replace_with_linear") ? Mixer::none : Mixer::full);
  }
  return mixers;
}

/// Every `period`-th layer is full, the others are `other`.
Mixers with_period(int layers, int period, Mixer other) {
  Mixers mixers;
  for (int layer = 0; layer < layers; ++layer) mixers.push_back((layer + 1) % period == 0 ? Mixer::full : other);
  return mixers;
}

/// Some layers are chunked. Which ones, only layer_types says, or what Llama 4 says of the layers without rotary embedding:
/// those are full, the others chunked (Transformers: configuration_llama4.py).
Mixers from_chunk_size(const ConfigObject& config, const std::string& model_type, int layers,
                       std::vector<std::string>& remarks) {
  constexpr std::string_view kLayers = "no_rope_layers";
  constexpr std::string_view kInterval = "no_rope_layer_interval";
  const bool is_llama4 = model_type.starts_with("llama4");
  if (is_llama4 && (config.active(kLayers) || config.active(kInterval)))
    remarks.push_back("layers are chunked but for those without rotary embedding (Transformers' configuration_llama4.py)");
  if (is_llama4 && config.active(kLayers)) {
    Mixers mixers;
    for (const auto& rotates : config.array_per_layer(kLayers, layers)) {
      if (rotates != 0 && rotates != 1)
        throw config.error(entry(kLayers, mixers.size()),
                           "is " + shown(rotates) + ", expected 1 (rotary embedding, chunked) or 0 (none, full)");
      mixers.push_back(rotates == 0 ? Mixer::full : Mixer::chunked);
    }
    return mixers;
  }
  if (is_llama4 && config.active(kInterval)) return with_period(layers, config.number(kInterval), Mixer::chunked);
  throw config.error(
      "attention_chunk_size",
      "is " + shown(config.json().at("attention_chunk_size")) +
          ": which layers are chunked is not in the file; give layer_types, or set it to null to plan all layers "
          "as full attention, an upper bound");
}

/// MiMo-V2 repeats its window as attention_chunk_size; its layers slide.
bool chunks_are_windows(const ConfigObject& config) {
  return config.active("hybrid_layer_pattern") && config.active("sliding_window") &&
         config.json().at("attention_chunk_size") == config.json().at("sliding_window");
}

/// Families whose model code slides every layer once sliding_window is set (Transformers: modeling_mistral.py,
/// modeling_mixtral.py, modeling_phi3.py, modeling_starcoder2.py).
bool slides_every_layer(const std::string& model_type) {
  constexpr std::array<std::string_view, 4> kTypes = {"mistral", "mixtral", "phi3", "starcoder2"};
  return std::find(kTypes.begin(), kTypes.end(), model_type) != kTypes.end();
}

/// Families whose configuration class lays out the sliding layers: every n-th layer is full (Transformers:
/// configuration_gemma2.py, configuration_gemma3.py, configuration_gpt_oss.py). 0 = not such a family.
int implied_period(const std::string& model_type) {
  if (model_type == "gemma2" || model_type == "gpt_oss") return 2;
  if (model_type == "gemma3" || model_type == "gemma3_text") return 6;
  return 0;
}

Mixers from_max_window_layers(const ConfigObject& config, int layers, std::vector<std::string>& remarks) {
  constexpr std::string_view kKey = "max_window_layers";
  if (!config.has(kKey))
    throw config.error("use_sliding_window",
                       "is true but max_window_layers is missing: which layers slide is not in the file; give layer_types");
  const int first = config.active(kKey) ? config.number(kKey) : 0;
  Mixers mixers(static_cast<std::size_t>(layers), Mixer::full);
  for (int layer = first; layer < layers; ++layer) mixers[static_cast<std::size_t>(layer)] = Mixer::sliding;
  remarks.push_back("layers from max_window_layers " + std::to_string(first) +
                    " on slide (Transformers' configuration_qwen2.py)");
  return mixers;
}

Mixers from_sliding_window(const ConfigObject& config, const std::string& model_type, int layers,
                           std::vector<std::string>& remarks) {
  const Mixers all_full(static_cast<std::size_t>(layers), Mixer::full);
  const int period = implied_period(model_type);
  if (config.has("use_sliding_window") && !config.flag("use_sliding_window")) {
    if (config.active("sliding_window"))
      remarks.push_back("sliding_window " + shown(config.json().at("sliding_window")) +
                        " is off (use_sliding_window is false)");
    return all_full;
  }
  const bool has_window = config.has("sliding_window") && !config.json().at("sliding_window").is_null();
  if (!has_window && (period > 0 || config.flag("use_sliding_window")))
    throw config.error("sliding_window", "is missing or null, but layers of model_type " + model_type + " slide; give it");
  if (!has_window) return all_full;
  if (config.flag("use_sliding_window")) return from_max_window_layers(config, layers, remarks);
  if (const auto given = config.number_called({"sliding_window_pattern", "_sliding_window_pattern"}))
    return with_period(layers, given->value, Mixer::sliding);
  if (period > 0) {
    remarks.push_back("which layers slide is not in the file; model_type " + model_type + " makes every layer slide but each " +
                      (period == 2 ? "2nd" : std::to_string(period) + "th") + " (Transformers' configuration_" +
                      (period == 6 ? "gemma3" : model_type) + ".py)");
    return with_period(layers, period, Mixer::sliding);
  }
  if (slides_every_layer(model_type)) {
    remarks.push_back("all layers slide (Transformers' modeling_" + model_type + ".py)");
    return Mixers(static_cast<std::size_t>(layers), Mixer::sliding);
  }
  throw config.error("sliding_window", "is " + shown(config.json().at("sliding_window")) +
                                           ", but which layers slide is not in the file and not known of model_type " +
                                           shown(std::string_view(model_type)) +
                                           "; give layer_types or sliding_window_pattern, or set sliding_window to null");
}

}  // namespace

std::vector<Mixer> read_layer_mixers(const ConfigObject& config, const std::string& model_type, int layers,
                                     std::vector<std::string>& remarks) {
  if (config.active("layer_types")) return from_layer_types(config, model_type, layers);
  if (config.active("attention_chunk_size") && !chunks_are_windows(config))
    return from_chunk_size(config, model_type, layers, remarks);
  if (config.active("hybrid_layer_pattern")) return from_hybrid_layer_pattern(config, model_type, layers);
  if (config.active("hybrid_override_pattern")) return from_override_pattern(config, layers);
  if (config.active("block_configs")) return from_block_configs(config, layers);
  if (config.active("full_attention_interval"))
    return with_period(layers, config.number("full_attention_interval"), Mixer::delta);
  for (const std::string_view key : {"linear_num_value_heads", "mamba_num_heads"})
    if (config.active(key))
      throw config.error(key, "is given, but which layers are linear is not in the file; give layer_types");
  return from_sliding_window(config, model_type, layers, remarks);
}

int kv_heads_of_block(const ConfigObject& config, int layer, int query_heads) {
  const ConfigObject attention = attention_block(config, static_cast<std::size_t>(layer));
  const int in_group = attention.number("n_heads_in_group");
  if (query_heads % in_group != 0)
    throw attention.error("n_heads_in_group", "is " + std::to_string(in_group) + ", expected a divisor of the " +
                                                  std::to_string(query_heads) + " query heads");
  return query_heads / in_group;
}

}  // namespace hsap
