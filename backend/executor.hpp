// The executor: walks the very same Schedule that was costed and simulated, with real tensors.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/ir/schedule.hpp"
#include "planner/ir/timeline.hpp"

namespace hsap {

/// A dense host tensor over the whole batch, fp32, row-major [tokens, heads, width].
struct HostTensor {
  Token tokens = 0;
  int heads = 0;
  int width = 0;
  std::vector<float> values;
};

/// Inputs of one layer on the whole batch. q, d_o have query heads; k, v kv heads.
struct LayerInputs {
  HostTensor q, k, v, d_o;
};
/// Standard normal values from a seed; the same on every platform.
LayerInputs random_inputs(const AttentionShape& shape, Token tokens, std::uint64_t seed);

struct LayerResults {
  HostTensor o, d_q, d_k, d_v;
};

struct Execution {
  LayerResults results;
  Timeline timeline;  ///< measured
};

/// Runs every rank of the schedule as a thread group of this process (one thread per stream), fp32 whatever the buffers' dtype.
/// Scatters the inputs to their owners, runs forward and backward, gathers the results. Blocks until all ranks are done.
/// Throws InvalidInput when shapes do not fit or the host lacks the memory (naming need and have), BackendFailure when a rank fails
/// or waits for a message that never comes.
Execution execute_on_cpu(const Schedule& schedule, const LayerInputs& inputs);

}  // namespace hsap
