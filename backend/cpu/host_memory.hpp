// Whether a run fits into the host's memory: asked before the first allocation, because the kernel of the operating system may
// kill the process where malloc would not fail.
#pragma once

#include "planner/ir/schedule.hpp"

namespace hsap {

/// Bytes that execute_on_cpu allocates at most: every rank's peak with fp32 buffers, the scratch memory of its largest kernel,
/// and the results. (Row tables and masks are left out: 24 bytes per row beside the kilobytes of its heads.)
double host_bytes_needed(const Schedule& schedule);

/// Bytes that this process may still allocate: what the system has available, or less where a control group limits it.
/// Linux only; throws BackendFailure when /proc/meminfo does not say.
double host_bytes_available();

/// Throws InvalidInput naming both when `needed` is more than `available`.
void check_host_memory(double needed, double available);

}  // namespace hsap
