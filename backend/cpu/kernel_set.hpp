// The CPU kernels as a table of functions: one table per instruction set, compiled from the same sources (see CMakeLists.txt).
// Each function runs on the calling thread only, gives the same bits every time, and throws std::bad_alloc when its scratch
// memory does not fit. FLOPs returned are those of the matrix products really executed, padding included.
#pragma once

#include <vector>

#include "backend/kernel_calls.hpp"

namespace hsap {

struct KernelSet {
  const char* name;  ///< "avx512", "avx2", "baseline"
  int lanes;         ///< fp32 numbers in one vector register
  double (*attend_softmax)(const AttendCall&);
  double (*attend_linear)(const AttendCall&);
  double (*attend_backward_softmax)(const AttendBackwardCall&);
  double (*attend_backward_linear)(const AttendBackwardCall&);
  double (*state_update)(const StateUpdateCall&);
  double (*state_apply)(const StateApplyCall&);
};

/// Those that this processor can run, fastest first; never empty.
std::vector<const KernelSet*> supported_kernel_sets();
/// The first of them.
const KernelSet& fastest_kernel_set();

/// Upper bounds, over all kernel sets, of the scratch memory of one call.
double attend_scratch_bytes(Index key_rows, int qk_dim, int v_dim);
double attend_backward_scratch_bytes(Index key_rows, int qk_dim, int v_dim);

}  // namespace hsap
