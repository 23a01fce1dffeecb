// The options that say what is planned: cluster, model, mask, lengths, batch. Shared by `compare` and `plan`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "planner/inputs/cluster_topology.hpp"
#include "planner/ir/ids.hpp"

namespace CLI {
class App;
}

namespace hsap {

/// What is planned when nothing else is said: the built-in problem of the README.
inline constexpr const char* kDefaultCluster = "dgx-h100-2";
inline constexpr const char* kDefaultModel = "Llama-3.1-8B";
inline constexpr const char* kDefaultLengths = "long-tail";
inline constexpr Token kDefaultTokens = 131'072;

/// As given on the command line.
struct InputOptions {
  std::string cluster = kDefaultCluster;
  std::string model = kDefaultModel;
  std::string layer;                ///< empty = the kind that most layers have
  std::optional<std::string> mask;  ///< a mask rule as parse_mask_rule() reads it; nullopt = what the layer has
  std::optional<double> decay;      ///< of a linear layer; nullopt = as the model has it
  std::string lengths = kDefaultLengths;
  std::optional<std::string> column;
  std::optional<Token> tokens;  ///< nullopt = kDefaultTokens, or what a ready batch (cu_seqlens) holds
  std::string gpus;             ///< "16", "0,1,2,3,6,7", or empty = all
  std::size_t batch = 0;
  std::uint64_t seed = 0;
};

/// Adds --cluster, --model, ... to a command.
void add_input_options(CLI::App& command, InputOptions& options);

/// "16" -> 0..15; "0,1,2,3,6,7" -> those; "" -> all of the cluster. Throws InvalidInput unless ids ascend and exist.
std::vector<GpuId> parse_gpus(const std::string& text, const ClusterTopology& cluster);

}  // namespace hsap
