// The CPU kernels as a table of functions: one table per instruction set, compiled from the same sources (see CMakeLists.txt).
// Each function runs on the calling thread only, gives the same bits every time, and throws std::bad_alloc when its scratch memory
// does not fit. FLOPs returned are those of the matrix products really executed, padding included.
#pragma once

#include <vector>

#include "backend/slice_view.hpp"

namespace hsap {

/// q [nq, heads, qk], k [nk, kv_heads, qk], v [nk, kv_heads, v_dim] -> o [nq, heads, v_dim], lse [nq, heads, 1] (natural log).
/// visible[i]: key rows that query row i sees. Both ends must not descend from one row to the next.
struct AttendCall {
  SliceView q, k, v, o;
  SliceView lse;  ///< softmax only
  const RowInterval* visible = nullptr;
  HeadGroups groups;
};

/// As AttendCall, with the merged o and lse of the rows (softmax only) and d_o; writes every row of d_q, d_k, d_v.
struct AttendBackwardCall {
  SliceView q, k, v;
  SliceView o, lse;  ///< softmax only
  SliceView d_o, d_q, d_k, d_v;
  const RowInterval* visible = nullptr;
  HeadGroups groups;
};

/// state [1, kv_heads, a.width * b.width] = before + sum over rows, and over the heads of a group, of a^T b.
struct StateUpdateCall {
  SliceView a, b;
  SliceView before;  ///< data == nullptr: zero
  SliceView state;
  HeadGroups groups;
};

/// out = x state, or x state^T; state [1, kv_heads, rows * columns] with x.width rows (columns when transposed).
struct StateApplyCall {
  SliceView x, state, out;
  bool transposed = false;
  HeadGroups groups;
};

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
