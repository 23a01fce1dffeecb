// Attention backward on one thread: blocked, scores recomputed (FlashAttention-2, algorithm 2). Compiled per instruction set.
#include "backend/cpu/attention_tiles.hpp"
#include "backend/cpu/isa_kernels.hpp"
#include "backend/cpu/scratch.hpp"

namespace hsap::HSAP_ISA {
namespace {

constexpr float kLog2E = 1.44269504f;

/// Working memory of one call, carved out of one allocation. The first six serve one key/value head, the rest one block of
/// query rows.
struct BackwardScratch {
  BackwardScratch(const AttendBackwardCall& call, const KeySpan& span)
      : padded_keys(span.padded_rows()),
        padded_qk(round_up(call.q.width, kPanel)),
        padded_v(round_up(call.v.width, kPanel)),
        memory(padded_keys * (call.k.width + call.v.width + 2 * padded_qk + padded_v) +
               kQueryBlock * (call.q.width + call.v.width + 2 * padded_qk + padded_v + 2 * kKeyBlock + 2)) {
    float* next = memory.floats;
    const auto take = [&next](Index floats) {
      float* taken = next;
      next += floats;
      return taken;
    };
    k_transposed = take(padded_keys * call.k.width);
    v_transposed = take(padded_keys * call.v.width);
    k = take(padded_keys * padded_qk);
    d_k = take(padded_keys * padded_qk);
    d_v = take(padded_keys * padded_v);
    weights = take(kQueryBlock * kKeyBlock);
    d_scores = take(kQueryBlock * kKeyBlock);
    q_panels = take(kQueryBlock * padded_qk);
    d_o_panels = take(kQueryBlock * padded_v);
    d_q = take(kQueryBlock * padded_qk);
    q = take(kQueryBlock * call.q.width);
    d_o = take(kQueryBlock * call.v.width);
    lse = take(kQueryBlock);
    delta = take(kQueryBlock);
  }
  Index padded_keys, padded_qk, padded_v;
  Scratch memory;
  float* k_transposed;  // panels [padded_keys / kPanel][qk][kPanel]
  float* v_transposed;  // panels [padded_keys / kPanel][v][kPanel]
  float* k;             // panels [padded_qk / kPanel][padded_keys][kPanel]
  float* d_k;           // [padded_keys][padded_qk], without the factor 1/sqrt(qk)
  float* d_v;           // [padded_keys][padded_v]
  float* weights;       // [kQueryBlock][kKeyBlock] p
  float* d_scores;      // [kQueryBlock][kKeyBlock] d_o.v, then d_s
  float* q_panels;      // panels [padded_qk / kPanel][kQueryBlock][kPanel]
  float* d_o_panels;    // panels [padded_v / kPanel][kQueryBlock][kPanel]
  float* d_q;           // [kQueryBlock][padded_qk], without the factor 1/sqrt(qk)
  float* q;             // [kQueryBlock][qk] times query_factor
  float* d_o;           // [kQueryBlock][v]
  float* lse;           // [kQueryBlock] in units of log2
  float* delta;         // [kQueryBlock] rowsum(d_o o)
  TileDecay decay;      // of the tile at hand, for DecayingLinear
};

struct Softmax {
  static float score_factor(Index qk_dim) { return 1 / __builtin_sqrtf(static_cast<float>(qk_dim)); }
  static float query_factor(Index qk_dim) { return kLog2E * score_factor(qk_dim); }

  static void start(const AttendBackwardCall& call, BackwardScratch& scratch, Index head, Index first, Index last) {
    for (Index row = first; row < last; ++row) {
      scratch.lse[row - first] = kLog2E * row_of(call.lse, head, row)[0];
      scratch.delta[row - first] = call.delta.data != nullptr ? row_of(call.delta, head, row)[0] : delta_of(call, head, row);
    }
  }

  static float delta_of(const AttendBackwardCall& call, Index head, Index row) {
    const float* o = row_of(call.o, head, row);
    const float* d_o = row_of(call.d_o, head, row);
    Vector sum{};
    Index x = 0;
    for (; x + kLanes <= call.o.width; x += kLanes) sum += load(o + x) * load(d_o + x);
    float delta = sum_of_lanes(sum);
    for (; x < call.o.width; ++x) delta += o[x] * d_o[x];
    return delta;
  }
  static void enter(const AttendBackwardCall&, BackwardScratch&, Index, const Tile&) {}

  /// p = 2^(score - lse), d_s = p (d_o.v - delta).
  static void differentiate(const BackwardScratch& scratch, Index row, Index, float* weights, float* d_scores,
                            const SeenColumns& seen) {
    set_unseen(weights, seen, kMinusInfinity);
    const Vector lse = splat(scratch.lse[row]);
    const Vector delta = splat(scratch.delta[row]);
    for (Index x = seen.vectors_begin; x < seen.vectors_end; x += kLanes) {
      const Vector weight = exp2(load(weights + x) - lse);
      store(weights + x, weight);
      store(d_scores + x, weight * (load(d_scores + x) - delta));
    }
  }
};

struct Linear {
  static float score_factor(Index) { return 1; }
  static float query_factor(Index) { return 1; }
  static void start(const AttendBackwardCall&, BackwardScratch&, Index, Index, Index) {}
  static void enter(const AttendBackwardCall&, BackwardScratch&, Index, const Tile&) {}
  static void differentiate(const BackwardScratch&, Index, Index, float* weights, float* d_scores, const SeenColumns& seen) {
    set_unseen(weights, seen, 0);
    set_unseen(d_scores, seen, 0);
  }
};

struct DecayingLinear : Linear {
  static void enter(const AttendBackwardCall& call, BackwardScratch& scratch, Index kv, const Tile& tile) {
    scratch.decay.enter(call.decay, kv, tile, call.k.row_count);
  }
  static void differentiate(const BackwardScratch& scratch, Index row, Index query, float* weights, float* d_scores,
                            const SeenColumns& seen) {
    scratch.decay.weaken(weights, query, seen);
    scratch.decay.weaken(d_scores, query, seen);
    Linear::differentiate(scratch, row, query, weights, d_scores, seen);
  }
};

/// Adds what the query rows first .. last-1 of one head give to d_k and d_v of its key/value head `kv`, and writes their d_q.
template <class Kind>
double differentiate_block(const AttendBackwardCall& call, const KeySpan& span, BackwardScratch& scratch, Index kv, Index head,
                           Index first, Index last) {
  const Index qk = call.q.width;
  const Index v = call.v.width;
  const Index padded_qk = scratch.padded_qk;
  const Index padded_v = scratch.padded_v;
  double flops = 0;
  pack_plain(call.q, head, first, last, Kind::query_factor(qk), scratch.q);
  pack_plain(call.d_o, head, first, last, 1, scratch.d_o);
  pack_rows(call.q, head, first, last, kQueryBlock, scratch.q_panels);
  pack_rows(call.d_o, head, first, last, kQueryBlock, scratch.d_o_panels);
  set_zero(scratch.d_q, (last - first) * padded_qk);
  Kind::start(call, scratch, head, first, last);
  for_each_tile(call.visible, call.sinks, span, first, last, [&](const Tile& tile) {
    const Index rows = tile.rows();
    const Index columns = tile.columns();
    const Index key = tile.begin - span.begin;
    const Index row = tile.first - first;
    Kind::enter(call, scratch, kv, tile);
    flops += multiply(rows, columns, qk, {scratch.q + row * qk, qk, 1}, {scratch.k_transposed + key * qk, qk * kPanel},
                      scratch.weights, kKeyBlock, false);
    flops += multiply(rows, columns, v, {scratch.d_o + row * v, v, 1}, {scratch.v_transposed + key * v, v * kPanel},
                      scratch.d_scores, kKeyBlock, false);
    for (Index i = 0; i < rows; ++i) {
      float* weights = scratch.weights + i * kKeyBlock;
      float* d_scores = scratch.d_scores + i * kKeyBlock;
      const SeenColumns seen = seen_columns(tile, i);
      clear_beside(weights, seen, columns);
      clear_beside(d_scores, seen, columns);
      if (!seen.empty()) Kind::differentiate(scratch, row + i, tile.first + i, weights, d_scores, seen);
    }
    flops += multiply(columns, padded_v, rows, {scratch.weights, 1, kKeyBlock},
                      {scratch.d_o_panels + row * kPanel, kQueryBlock * kPanel}, scratch.d_v + key * padded_v, padded_v, true);
    flops += multiply(columns, padded_qk, rows, {scratch.d_scores, 1, kKeyBlock},
                      {scratch.q_panels + row * kPanel, kQueryBlock * kPanel}, scratch.d_k + key * padded_qk, padded_qk, true);
    flops += multiply(rows, padded_qk, columns, {scratch.d_scores, kKeyBlock, 1},
                      {scratch.k + key * kPanel, scratch.padded_keys * kPanel}, scratch.d_q + row * padded_qk, padded_qk, true);
  });
  unpack(call.d_q, head, first, last, Kind::score_factor(qk), scratch.d_q, padded_qk);
  return flops;
}

/// Key rows that no query row sees have no gradient.
void fill_outside(const SliceView& gradient, Index head, const KeySpan& span) {
  fill_rows(gradient, head, 0, span.begin, 0);
  fill_rows(gradient, head, span.end, gradient.row_count, 0);
}

template <class Kind>
double attend_backward(const AttendBackwardCall& call) {
  const KeySpan span = keys_seen(call.visible, call.sinks, call.q.row_count);
  BackwardScratch scratch(call, span);
  double flops = 0;
  for (Index kv = 0; kv < call.k.heads; ++kv) {
    pack_transposed(call.k, kv, span.begin, span.end, scratch.k_transposed);
    pack_transposed(call.v, kv, span.begin, span.end, scratch.v_transposed);
    pack_rows(call.k, kv, span.begin, span.end, scratch.padded_keys, scratch.k);
    set_zero(scratch.d_k, scratch.padded_keys * scratch.padded_qk);
    set_zero(scratch.d_v, scratch.padded_keys * scratch.padded_v);
    const HeadSpan heads = heads_of_group(call.groups, call.q.heads, kv);
    for (Index head = heads.begin; head < heads.end; ++head) {
      for (Index first = 0; first < call.q.row_count;) {
        const Index last = block_end(call.visible, first, call.q.row_count);
        flops += differentiate_block<Kind>(call, span, scratch, kv, head, first, last);
        first = last;
      }
    }
    unpack(call.d_k, kv, span.begin, span.end, Kind::score_factor(call.q.width), scratch.d_k, scratch.padded_qk);
    unpack(call.d_v, kv, span.begin, span.end, 1, scratch.d_v, scratch.padded_v);
    fill_outside(call.d_k, kv, span);
    fill_outside(call.d_v, kv, span);
  }
  return flops;
}

}  // namespace

double attend_backward_softmax(const AttendBackwardCall& call) { return attend_backward<Softmax>(call); }
double attend_backward_linear(const AttendBackwardCall& call) {
  return call.decay.rates ? attend_backward<DecayingLinear>(call) : attend_backward<Linear>(call);
}

}  // namespace hsap::HSAP_ISA
