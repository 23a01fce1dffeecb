// Which layers of a model mix tokens, and how: read from the lists and patterns that config.json files hold.
#pragma once

#include <string>
#include <vector>

#include "planner/inputs/model/config_object.hpp"

namespace hsap {

/// How a layer mixes tokens.
enum class Mixer {
  none,       ///< not at all: an MLP or expert layer of its own, or a layer whose attention was removed
  full,       ///< softmax attention over the document so far
  sliding,    ///< softmax attention over the window
  chunked,    ///< softmax attention over the query's own block of tokens (Llama 4)
  delta,      ///< gated delta rule (Qwen3-Next, Qwen3.5): linear attention with a state
  lightning,  ///< Lightning Attention (MiniMax-Text-01): linear attention with decay
  mamba,      ///< Mamba-2: a state-space layer, which has the form of linear attention
};

/// The mixer of each layer. `model_type` decides only where Transformers' model code fixes what the file leaves open, and then
/// a remark says so. Throws InvalidInput naming key and layer for what is not understood.
std::vector<Mixer> read_layer_mixers(const ConfigObject& config, const std::string& model_type, int layers,
                                     std::vector<std::string>& remarks);

/// KV heads of a layer in a file with block_configs (Nemotron-NAS): query_heads / n_heads_in_group.
int kv_heads_of_block(const ConfigObject& config, int layer, int query_heads);

}  // namespace hsap
