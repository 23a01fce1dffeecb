// What hsap knows of a model: the attention sizes and the linear work of each kind of layer. Sizes, never times.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "planner/ir/attention_shape.hpp"

namespace hsap {

/// Layers that have the same attention.
struct LayerKind {
  std::string name;  ///< "full", "sliding", "linear"; "full-64/16" (heads) for a second full kind with other heads
  AttentionShape attention;
  std::vector<int> layers;  ///< indices, ascending, from 0
  /// Parameters that a token multiplies in one layer outside attention's core (projections; MLP, or router, active and shared
  /// experts): the mean over `layers`. None: the file does not tell, and `linear_unknown` says what is missing.
  std::optional<double> linear_parameters = {};
  std::string linear_unknown = {};

  /// linear_parameters. Throws InvalidInput (linear_unknown) when they are not known.
  double known_linear_parameters() const;
};

struct ModelShape {
  std::string name;
  int layers = 0;  ///< all layers, those without attention included
  int hidden = 0;
  std::vector<LayerKind> kinds;      ///< only layers with attention; most layers first
  std::vector<std::string> remarks;  ///< what the reader decided and a person should know, one line each

  /// The kind called `name`. Throws InvalidInput listing the kinds there are.
  const LayerKind& kind(const std::string& name) const;
};

/// Reads a Hugging Face config.json. What is not understood is an InvalidInput naming file, key (and layer), never a guess.
ModelShape read_model_config(const std::filesystem::path& file);
ModelShape parse_model_config(const std::string& json_text, const std::string& source);

/// A built-in model ("Llama-3.1-8B"). Throws InvalidInput listing the names.
ModelShape model_preset(const std::string& name);
std::vector<std::string> model_preset_names();

/// The linear-attention layer with the same heads and widths, on which lasp is evaluated for a softmax model.
AttentionShape linear_counterpart(const AttentionShape& shape);

/// Head-parallel degrees that work: u divides query_heads, and u divides kv_heads or kv_heads divides u (KV heads replicated).
std::vector<int> head_parallel_degrees(const AttentionShape& shape);

}  // namespace hsap
