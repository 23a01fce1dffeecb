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
/// Values of mean 0 and variance 1, near to normal (sums of twelve uniform numbers), from a seed: the same bits on every
/// platform.
LayerInputs random_inputs(const AttentionShape& shape, Token tokens, std::uint64_t seed);

struct LayerResults {
  HostTensor o, d_q, d_k, d_v;
};

struct Execution {
  LayerResults results;
  Timeline timeline;  ///< measured
};

/// Runs every rank of the schedule as a thread group of this process (one thread per stream). Everything is computed, sent and
/// kept in fp32 whatever the buffers' dtype: that counts only in the bytes and times of the predictors. Scatters the inputs to
/// their owners, runs forward and backward, gathers the results. A buffer has memory from the op that first touches it to the
/// op that last does. The same schedule and inputs give the same bits. Blocks until all ranks are done.
/// verify() is for the caller to ask; here only what would reach outside memory or wait for ever is refused.
/// Throws InvalidInput when shapes do not fit, an input is not finite, an op names what is not there, or the host lacks the
/// memory (naming need and have); BackendFailure when a rank fails, waits for a message that never comes, or a result is not
/// finite.
Execution execute_on_cpu(const Schedule& schedule, const LayerInputs& inputs);

}  // namespace hsap
