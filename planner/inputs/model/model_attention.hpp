// Heads and widths of a model's attention layers, one function per kind of mixer.
#pragma once

#include <string>
#include <vector>

#include "planner/inputs/model/config_object.hpp"
#include "planner/inputs/model/model_layers.hpp"
#include "planner/ir/attention_shape.hpp"

namespace hsap {

/// The attention of the layers that mix by `mixer` (not Mixer::none); `layer` = one of them, for files that say it layer by
/// layer. Remarks are added once each. Throws InvalidInput naming file and key.
AttentionShape read_attention(const ConfigObject& config, Mixer mixer, int layer, DType dtype,
                              std::vector<std::string>& remarks);

}  // namespace hsap
