// Attention across groups that fetch the keys and values their documents need by the ways of plan.hpp: every row crosses
// once between two nodes, whatever number of groups needs it there. The InterSP half of HSAP (our own design).
//
//   forward   local attention hides the first stage, the attention of each stage hides the next one's messages
//   backward  the last stage first, the local part last; where keys and values come again, in the order in which they can. Who
//             passed rows on adds the gradients of those it passed them to and its own, in fp32, and sends the sum the way the
//             rows came; their holder adds what arrives. Each sum waits until the next stage's attention has been issued, which
//             hides the messages that it needs; where keys come again in rounds, until all attention has.
#pragma once

#include <optional>
#include <vector>

#include "planner/strategies/inner_attention.hpp"
#include "planner/strategies/relay/plan.hpp"
#include "planner/strategies/strategy_options.hpp"

namespace hsap {

struct RelayedExchangeRules {
  int stages = 1;                          ///< of what comes from other nodes; >= 1
  bool in_rounds = false;                  ///< between nodes, which pass on what came to them (steps_in_rounds.hpp)
  KvForBackward kv = KvForBackward::kept;  ///< received keys and values in backward
  std::optional<DType> d_kv = {};          ///< d_k and d_v on the wire; nullopt: the model's
  /// What a document sends to a node is split over stages only into parts that have so many bytes (assumed: about where
  /// InfiniBand transfers come near their full bandwidth).
  double least_message_bytes = 1 << 20;
  bool ends_programs = false;  ///< no ops of the ranks follow
};

/// views[group][member]; member m of every group holds the same heads, and talks to member m of other groups only.
/// node_of_rank tells which messages stay inside a node. Softmax attention only.
void relayed_exchange(ProgramBuilder& builder, const std::vector<std::vector<View>>& views,
                      const std::vector<int>& node_of_rank, const RelayedExchangeRules& rules);

}  // namespace hsap
