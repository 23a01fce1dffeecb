// What a kernel is called with: the slices of one op as memory, under the names that the op has in planner/ir/schedule.hpp.
// Plain data, as in slice_view.hpp and for the same reason.
#pragma once

#include "backend/slice_view.hpp"

namespace hsap {

/// Decay of linear attention between query and key rows: a pair d tokens apart weighs exp(-rate d).
struct PairDecay {
  const float* rates = nullptr;  ///< [kv heads of the slice] per token (planner/ir/attention_shape.hpp); nullptr: no decay
  const Index* query_tokens = nullptr;  ///< [query rows] where each row lies in the batch
  const Index* key_tokens = nullptr;    ///< [key rows]
};

/// Decay of linear attention between rows and a state: row i lies first + i * step tokens from where the state is decayed to.
struct RowDecay {
  const float* rates = nullptr;  ///< [kv heads of the slice] per token; nullptr: no decay
  Index first = 0;
  Index step = 0;
};

/// q [nq, heads, qk], k [nk, kv_heads, qk], v [nk, kv_heads, v_dim] -> o [nq, heads, v_dim], lse [nq, heads, 1] (natural log).
/// visible[i] and, when there are any, sinks[i]: key rows that query row i sees, two disjoint intervals. Neither end of either
/// list may descend from one row to the next.
struct AttendCall {
  SliceView q, k, v, o;
  SliceView lse;  ///< softmax only
  const RowInterval* visible = nullptr;
  const RowInterval* sinks = nullptr;  ///< nullptr: none
  HeadGroups groups;
  PairDecay decay;
};

/// As AttendCall, with the merged o and lse of the rows and d_o; writes every row of d_q, d_k, d_v.
struct AttendBackwardCall {
  SliceView q, k, v;
  SliceView o, lse;  ///< softmax only
  SliceView delta;   ///< instead of o, when it has data: [nq, heads, 1] rowsum(d_o o)
  SliceView d_o, d_q, d_k, d_v;
  const RowInterval* visible = nullptr;
  const RowInterval* sinks = nullptr;  ///< nullptr: none
  HeadGroups groups;
  PairDecay decay;
};

/// Folds from_o [rows, heads, v_dim] and from_lse [rows, heads, 1] into o and lse.
struct MergeCall {
  SliceView from_o, from_lse, o, lse;
};

/// delta [rows, heads, 1] = rowsum(d_o o), o and d_o [rows, heads, v_dim].
struct DeltaCall {
  SliceView o, d_o, delta;
};

/// `from` and `into` have equal rows, heads and width.
struct TransferCall {
  SliceView from, into;
};

/// state [1, kv_heads, a.width * b.width] = before + sum over rows, and over the heads of a group, of a^T b; the rows decayed
/// by their distances, `before` by the number of rows.
struct StateUpdateCall {
  SliceView a, b;
  SliceView before;  ///< data == nullptr: zero
  SliceView state;
  HeadGroups groups;
  RowDecay decay;
};

/// state = sum of terms; all [1, kv_heads, width]. Term i is decayed by distances[i] tokens.
struct StateSumCall {
  const SliceView* terms = nullptr;  ///< [count]
  const Index* distances = nullptr;  ///< [count]
  Index count = 0;
  SliceView state;
  const float* rates = nullptr;  ///< [kv heads of the slice] per token; nullptr: no decay
};

/// out = x state, or x state^T, each row decayed by its distance; state [1, kv_heads, rows * columns], with x.width rows, or
/// x.width columns when transposed.
struct StateApplyCall {
  SliceView x, state, out;
  bool transposed = false;
  HeadGroups groups;
  RowDecay decay;
};

}  // namespace hsap
