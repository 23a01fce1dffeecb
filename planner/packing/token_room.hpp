// How many tokens of a micro-batch a rank has room for, when nobody says it. What is counted, in bytes of a rank:
//
//   states      per parameter of linear layers 2 + 2 (weights and gradients in 16 bit, sharded over the ranks of a replica) and
//               12 (fp32 weights and Adam's two moments, sharded over all ranks): mixed precision as in ZeRO (arXiv 1910.02054,
//               section 3.1); that they are sharded like this is assumed
//   per token   the input of every layer, since all activations are recomputed in backward (assumed); of the layer under way,
//               attention's peak (planner/ir/memory.hpp, one rank), and the numbers that its linear layers produce with their
//               gradients: as many as it has parameters over the width of the model (assumed: inputs and outputs of the wide
//               side of each matrix), twice
//
// Not counted: embeddings, logits, experts that a token does not visit, layers without attention, received keys, fragmentation,
// what libraries take.
#pragma once

#include "planner/inputs/cluster_topology.hpp"
#include "planner/inputs/model_shape.hpp"
#include "planner/placement/bounds/memory.hpp"

namespace hsap {

/// Of the memory of a GPU, that training may use for states and activations (assumed: the rest is for what is not counted).
inline constexpr double kUsableMemory = 0.8;

/// A rank of a replica of `ranks` ranks; `kind` is the layer whose working set is counted. Throws InvalidInput when the linear
/// work of a layer of the model is not known.
RankMemory rank_memory(const ModelShape& model, const LayerKind& kind, const ClusterTopology& cluster, int ranks);

}  // namespace hsap
