// Linear work of a model's layers: how many parameters a token multiplies in a layer outside attention's core. Projections with
// their real widths, and the MLP or the experts that a token visits.
#pragma once

#include <string>

#include "planner/inputs/model/config_object.hpp"
#include "planner/inputs/model/model_layers.hpp"
#include "planner/ir/attention_shape.hpp"

namespace hsap {

/// Parameters of the matrices that one token multiplies in layer `layer`, which mixes by `mixer` (not Mixer::none) with heads
/// and widths `shape`: the projections around attention, and the MLP, or router, active experts and shared experts. Not
/// counted: attention itself, norms, biases, convolutions, rotary embedding. Forward takes 2 FLOP per parameter, backward 4.
/// Throws InvalidInput naming file and key when the file does not tell the sizes.
double linear_parameters(const ConfigObject& config, const std::string& model_type, Mixer mixer, const AttentionShape& shape,
                         int layer);

}  // namespace hsap
