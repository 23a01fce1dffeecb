// Peak memory of every rank, from buffer lifetimes. A buffer lives from the op that first writes it to the op that last touches
// it, in issue order; inputs and results of a phase, and whatever backward reads of forward's buffers, live through.
#pragma once

#include <string>
#include <vector>

#include "planner/ir/schedule.hpp"

namespace hsap {

/// Memory of one rank for one layer's attention: inputs, results, saved tensors and communication buffers, in bytes.
struct MemoryUse {
  double peak_bytes = 0;
  double saved_bytes = 0;       ///< kept from forward to backward
  Phase peak_phase = Phase::forward;
  std::string largest_term;     ///< name of the largest buffer alive at the peak
  double largest_term_bytes = 0;
};

MemoryUse memory_of(const Schedule& schedule, RankId rank);
/// The rank with the largest peak.
MemoryUse peak_memory(const Schedule& schedule);

}  // namespace hsap
