// What makes a model unreadable: attention that hsap does not model, and attention-like keys that it does not know.
#pragma once

#include <string>
#include <vector>

#include "planner/inputs/model/config_object.hpp"

namespace hsap {

/// Throws InvalidInput naming file and key, and what would work, when `config` asks for attention that hsap does not model
/// (sparse, compressed, cross, bidirectional attention, layers that share keys and values) or holds a key that speaks
/// of the kind of attention and that nobody here has read about. `whole_file` is the object around a nested text_config.
void refuse_unsupported_attention(const ConfigObject& config, const ConfigObject& whole_file);

/// Adds a remark for each thing that leaves sizes and exchanges as they are but is not computed (sinks, soft-capping, gates,
/// ...).
void remark_unmodelled_details(const ConfigObject& config, const std::string& model_type, std::vector<std::string>& remarks);

}  // namespace hsap
