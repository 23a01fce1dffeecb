// Everything that is planned, read from files or taken from what is built in: the machine, one attention layer, one packed
// batch.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planner/inputs/cluster_topology.hpp"
#include "planner/inputs/document_lengths.hpp"
#include "planner/inputs/model_shape.hpp"
#include "planner/inputs/packed_batch.hpp"
#include "tools/input_options.hpp"

namespace hsap {

/// A cluster and which of its GPUs are used; the text of its file is kept so that a plan can carry it.
struct ChosenCluster {
  std::string text;         ///< the YAML
  std::string source;       ///< file or built-in name, as asked for
  std::vector<GpuId> gpus;  ///< those used, ascending, numbered in the whole cluster
  std::size_t gpus_in_all = 0;
  ClusterTopology topology;  ///< cut down to `gpus`
};
/// `gpus` in the words of --gpus.
ChosenCluster read_cluster(const std::string& file_or_name, const std::string& gpus);
/// The same cluster again from its text. Throws InvalidInput.
ChosenCluster parse_cluster(const std::string& text, const std::string& source, const std::vector<GpuId>& gpus);

struct ChosenLayer {
  ModelShape model;
  LayerKind kind;
  std::optional<std::string> mask = {};  ///< the rule that was asked for in place of the model's
};
/// `layer` empty = the kind that most layers have; remarks of the model say so when there are several.
ChosenLayer read_layer(const std::string& file_or_name, const std::string& layer);
/// The same layer under the mask rule `mask` (mask_rule.hpp). Throws InvalidInput for what is no rule, and for a linear layer
/// under any but the causal one.
ChosenLayer with_mask(ChosenLayer layer, const std::string& mask);
/// --model and --layer, with --mask and --decay applied.
ChosenLayer read_layer(const InputOptions& options);

/// A file of lengths, or a built-in distribution under its name.
LengthSource read_lengths(const std::string& file_or_name, const std::optional<std::string>& column);

/// How a batch was made: enough to make it again.
struct BatchRecipe {
  std::string lengths;  ///< name of the file or distribution
  Token tokens = 0;     ///< size of a batch
  std::size_t batch = 0;
  std::uint64_t seed = 0;
};
struct ChosenBatch {
  BatchRecipe recipe;
  PackedBatch batch;
  std::size_t batches = 1;           ///< packed in all
  std::vector<std::string> remarks;  ///< of the reader, of drawing and of packing
};
/// Reads, draws (enough documents for a few batches) and packs first-fit; a ready batch (cu_seqlens) is taken as it is.
/// Throws InvalidInput when the asked batch does not exist, or `tokens` differs from those of a ready batch.
ChosenBatch read_batch(const std::string& file_or_name, const std::optional<std::string>& column, std::optional<Token> tokens,
                       std::size_t batch, std::uint64_t seed);

struct PlanningInputs {
  ChosenCluster cluster;
  ChosenLayer layer;
  ChosenBatch batch;

  /// What a person should be told about all of it, one line each.
  std::vector<std::string> remarks() const;
  /// "cluster  DGX H100, 2 nodes (dgx-h100-2): 16 of 16 GPUs (H100 SXM) on 2 nodes" and the like, for reports.
  std::string description() const;
};
PlanningInputs read_inputs(const InputOptions& options);

/// The lines "cluster  ..." and "layer    ..." of a report.
std::string described(const ChosenCluster& cluster);
std::string described(const ChosenLayer& layer);

/// "H100 SXM", or "H100 SXM, H20" when GPUs differ.
std::string device_names(const ClusterTopology& cluster);
/// "softmax, 32 query heads, 8 kv heads, head width 128, bf16"; a mask rule other than the causal one is told as well.
std::string describe(const AttentionShape& shape);

}  // namespace hsap
