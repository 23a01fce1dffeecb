// Peak memory of every rank, from buffer lifetimes in issue order. A buffer lives from the op that first writes it to the op
// that last touches it. The inputs of a phase are there from its start and die with their last reader (q, k, v may be saved for
// backward); its results live from their first write to its end.
#pragma once

#include <string>
#include <vector>

#include "planner/ir/schedule.hpp"

namespace hsap {

/// Memory of one rank for one layer's attention: inputs, results, saved tensors and communication buffers, in bytes.
struct MemoryUse {
  double peak_bytes = 0;
  double saved_bytes = 0;  ///< kept from forward to backward
  Phase peak_phase = Phase::forward;
  std::string largest_term;  ///< name of the largest buffer alive at the peak
  double largest_term_bytes = 0;
};

MemoryUse memory_of(const Schedule& schedule, RankId rank);

/// A buffer that is alive at the peak.
struct MemoryTerm {
  BufferId buffer = 0;
  double bytes = 0;
  bool saved = false;  ///< kept from forward to backward
};
/// What the peak of `rank` is made of, largest first, buffers without bytes left out: the bytes sum up to peak_bytes.
std::vector<MemoryTerm> terms_at_peak(const Schedule& schedule, RankId rank);

/// The rank with the largest peak.
MemoryUse peak_memory(const Schedule& schedule);

/// Bytes of communication buffers of the rank that needs most: those that Exchanges write and that are alive at once, what is
/// kept for backward included; inputs and results of the layer do not count.
double communication_buffer_bytes(const Schedule& schedule);

}  // namespace hsap
