// Choices inside a strategy beyond its degrees. Each has a name, under which the command line, plan files and refusals know it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "planner/ir/attention_shape.hpp"

namespace hsap {

/// Where backward takes the keys and values of other ranks from.
enum class KvForBackward {
  kept,   ///< received in forward and kept: more memory, less traffic
  again,  ///< sent again
};
std::string to_string(KvForBackward choice);

/// What goes to meet the other half of a (query, key) block on another rank.
enum class Moving {
  kv,        ///< keys and values to the queries; their gradients back
  q,         ///< queries to the keys; partial outputs back, and in backward d_o there, d_q back
  cheaper,   ///< per pair of ranks, what sends fewer bytes
  balanced,  ///< the same, and queries also where that takes work off a rank that has too much
  tiles,     ///< both, to a third rank: keys and values along the columns of a grid of ranks, queries along its rows
};
std::string to_string(Moving choice);

/// How keys and values get to those that need them.
enum class KvRoute {
  direct,        ///< from the holder to each group that needs them
  hierarchical,  ///< once into each node, and on inside it; gradients are summed in the node before they leave it
  rounds,        ///< once into each node, from any that has them by then, in rounds in which nodes have about as much to do
  joined,        ///< from the holders, all of them before attention runs, once, over them and a rank's own
};
std::string to_string(KvRoute choice);

/// How states of linear attention get to the ranks on which their documents go on.
enum class StateRoute {
  chain,   ///< from rank to rank, each adding its rows
  gather,  ///< from each rank to all of them at once
  scan,    ///< from rank to rank in blocks of heads, one under way while the one before is added
};
std::string to_string(StateRoute choice);

/// Every field has a value that leaves the choice to the strategy.
struct StrategyOptions {
  std::string placement = {};            ///< name of the placement law
  int stages = 0;                        ///< steps in which communication hides behind attention
  int window = 0;                        ///< ranks of an inner ring
  Token block = 0;                       ///< tokens of the blocks that are placed
  std::optional<DType> d_kv = {};        ///< dtype of d_k, d_v on the wire
  std::optional<KvForBackward> kv = {};  ///< received keys and values in backward
  std::optional<Moving> moving = {};     ///< keys and values, or queries, or both
  std::optional<KvRoute> exchange = {};  ///< of keys and values
  std::optional<StateRoute> states = {};
  bool operator==(const StrategyOptions&) const = default;
};
/// "cost-cut, 2 stages, bf16 dKV"; empty when all is left to the strategy.
std::string to_string(const StrategyOptions& options);

/// One field by its name.
struct OptionField {
  std::string name;  ///< "dkv-dtype"
  std::string type;  ///< of its value, for --help: "N", "fp32|bf16|fp16"
  std::string help;
  /// Empty when the choice is left to the strategy.
  std::function<std::string(const StrategyOptions&)> value;
  /// Throws InvalidInput that says what would work.
  std::function<void(StrategyOptions&, const std::string& value)> set;
};
const std::vector<OptionField>& option_fields();

/// `base`, with every field that `forced` does not leave to the strategy taken from there.
StrategyOptions overridden(StrategyOptions base, const StrategyOptions& forced);

}  // namespace hsap
