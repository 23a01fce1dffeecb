// Bytes and FLOPs of slices, messages and ops: computed here from the Schedule and nowhere else.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/ir/schedule.hpp"

namespace hsap {

/// Rows of a slice: its tokens, or 1 for a state.
Token rows_of(const Schedule& schedule, RankId rank, const Slice& slice);
double bytes_of(const Schedule& schedule, RankId rank, const Slice& slice);
/// Bytes of a whole buffer.
double bytes_of(const Schedule& schedule, RankId rank, const Buffer& buffer);
/// Bytes on the wire: the sum over the parts.
double bytes_of(const Schedule& schedule, RankId rank, const Message& message);

/// (query, key) pairs inside the mask that the op computes, per query head.
std::int64_t pairs_of(const Schedule& schedule, const Attend& op);
std::int64_t pairs_of(const Schedule& schedule, const AttendBackward& op);

/// Matrix-multiply FLOPs of one (query, key) pair and query head: forward 2 (qk_dim + v_dim), backward 2 (3 qk_dim + 2 v_dim).
double flops_per_pair(const AttentionShape& shape, Phase phase);

/// Linear attention is computed in chunks of this many tokens, the quadratic form inside a chunk and states between chunks
/// (assumed: flash-linear-attention's usual chunk length is 64 or 128).
inline constexpr Token kLinearAttentionChunk = 128;

/// Matrix-multiply FLOPs of an op of `rank` (2 per multiply-add). Attend: 2 (qk_dim + v_dim) per pair and query head;
/// AttendBackward: 2 (3 qk_dim + 2 v_dim), which counts the recomputed q.k (FlashAttention counts 2.5 x forward when the widths
/// are equal); linear attention: the lesser of that and the chunked form, per row and query head 2 (qk_dim + v_dim) chunk/2 + 4
/// qk_dim v_dim (backward 2.5 times as much); StateUpdate and StateApply: 2 qk_dim v_dim per row and head. Copy, Merge,
/// Accumulate, StateSum, Exchange: 0 (decay factors are no matrix products).
double flops_of(const Schedule& schedule, RankId rank, const OpBody& body);

/// The least matrix FLOPs that any schedule spends on the layer, all ranks together. Softmax: all pairs of the mask. Linear
/// (our derivation, for attention ops whose keys are those of their query rows): a pair is computed as such, or its query
/// applies a state (backward: d_q from one, and joins one) that its key is in (backward: d_k and d_v from one). So half of the
/// cost of every pair is the query's, who saves all its halves by the cost of its state products, query_heads x 2 qk_dim v_dim
/// each, and half the key's, who saves them by its own, kv_heads x 2 qk_dim v_dim each; both pay whatever is less.
double least_flops(const AttentionShape& shape, const DocumentMask& mask, Phase phase);

/// Bytes that an op without matrix multiplies reads and writes in device memory (Merge, Accumulate, Copy, StateSum); for the
/// others the bytes of all slices named, once each.
double memory_traffic_of(const Schedule& schedule, RankId rank, const OpBody& body);

/// Bytes that each rank sends in a phase.
std::vector<double> bytes_sent_by_rank(const Schedule& schedule, Phase phase);

}  // namespace hsap
