// What a kernel is called with: the slices of one op as memory, under the names that the op has in planner/ir/schedule.hpp.
// Plain data, as in slice_view.hpp and for the same reason.
#pragma once

#include "backend/slice_view.hpp"

namespace hsap {

/// q [nq, heads, qk], k [nk, kv_heads, qk], v [nk, kv_heads, v_dim] -> o [nq, heads, v_dim], lse [nq, heads, 1] (natural log).
/// visible[i] and, when there are any, sinks[i]: key rows that query row i sees, two disjoint intervals. Neither end of either
/// list may descend from one row to the next.
struct AttendCall {
  SliceView q, k, v, o;
  SliceView lse;  ///< softmax only
  const RowInterval* visible = nullptr;
  const RowInterval* sinks = nullptr;  ///< nullptr: none
  HeadGroups groups;
};

/// As AttendCall, with the merged o and lse of the rows and d_o; writes every row of d_q, d_k, d_v.
struct AttendBackwardCall {
  SliceView q, k, v;
  SliceView o, lse;  ///< softmax only
  SliceView d_o, d_q, d_k, d_v;
  const RowInterval* visible = nullptr;
  const RowInterval* sinks = nullptr;  ///< nullptr: none
  HeadGroups groups;
};

/// Folds from_o [rows, heads, v_dim] and from_lse [rows, heads, 1] into o and lse.
struct MergeCall {
  SliceView from_o, from_lse, o, lse;
};

/// `from` and `into` have equal rows, heads and width.
struct TransferCall {
  SliceView from, into;
};

/// state [1, kv_heads, a.width * b.width] = before + sum over rows, and over the heads of a group, of a^T b.
struct StateUpdateCall {
  SliceView a, b;
  SliceView before;  ///< data == nullptr: zero
  SliceView state;
  HeadGroups groups;
};

/// out = x state, or x state^T; state [1, kv_heads, rows * columns], with x.width rows, or x.width columns when transposed.
struct StateApplyCall {
  SliceView x, state, out;
  bool transposed = false;
  HeadGroups groups;
};

}  // namespace hsap
