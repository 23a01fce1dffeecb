// Attention forward on one thread: blocked, with online softmax (FlashAttention-2, algorithm 1). Compiled per instruction set.
#include "backend/cpu/attention_tiles.hpp"
#include "backend/cpu/isa_kernels.hpp"
#include "backend/cpu/scratch.hpp"

namespace hsap::HSAP_ISA {
namespace {

constexpr float kLog2E = 1.44269504f;
constexpr float kLn2 = 0.69314718f;

/// Working memory of one call, carved out of one allocation.
struct ForwardScratch {
  ForwardScratch(const AttendCall& call, const KeySpan& span)
      : padded_keys(span.padded_rows()),
        padded_v(round_up(call.v.width, kPanel)),
        memory(padded_keys * (call.k.width + padded_v) + kQueryBlock * (call.q.width + kKeyBlock + padded_v + 2)) {
    float* next = memory.floats;
    const auto take = [&next](Index floats) {
      float* taken = next;
      next += floats;
      return taken;
    };
    k_transposed = take(padded_keys * call.k.width);
    v = take(padded_keys * padded_v);
    scores = take(kQueryBlock * kKeyBlock);
    o = take(kQueryBlock * padded_v);
    q = take(kQueryBlock * call.q.width);
    row_max = take(kQueryBlock);
    row_sum = take(kQueryBlock);
  }
  Index padded_keys, padded_v;
  Scratch memory;
  float* k_transposed;  // panels [padded_keys / kPanel][qk][kPanel]
  float* v;             // panels [padded_v / kPanel][padded_keys][kPanel]
  float* scores;        // [kQueryBlock][kKeyBlock]
  float* o;             // [kQueryBlock][padded_v], not yet divided by row_sum
  float* q;             // [kQueryBlock][qk]
  float* row_max;       // [kQueryBlock] largest score so far, in units of log2
  float* row_sum;       // [kQueryBlock] sum of 2^(score - row_max)
  TileDecay decay;      // of the tile at hand, for DecayingLinear
};

/// Scores are kept in units of log2, so that the exponential is one exp2.
struct Softmax {
  static float query_factor(Index qk_dim) { return kLog2E / __builtin_sqrtf(static_cast<float>(qk_dim)); }

  static void start(ForwardScratch& scratch, Index rows) {
    for (Index i = 0; i < rows; ++i) {
      scratch.row_max[i] = kMinusInfinity;
      scratch.row_sum[i] = 0;
    }
  }

  static void enter(const AttendCall&, ForwardScratch&, Index, const Tile&) {}

  /// Scores of one row of the block -> weights relative to the new maximum; the row of o is rescaled to it.
  static void weigh(ForwardScratch& scratch, Index row, Index, float* scores, const SeenColumns& seen) {
    set_unseen(scores, seen, kMinusInfinity);
    Vector largest = splat(scratch.row_max[row]);
    for (Index x = seen.vectors_begin; x < seen.vectors_end; x += kLanes) {
      const Vector score = load(scores + x);
      largest = score > largest ? score : largest;
    }
    const float old_max = scratch.row_max[row];
    const float new_max = largest_lane(largest);
    Vector sum{};
    for (Index x = seen.vectors_begin; x < seen.vectors_end; x += kLanes) {
      const Vector weight = exp2(load(scores + x) - splat(new_max));
      store(scores + x, weight);
      sum += weight;
    }
    if (new_max > old_max) {
      const float rescale = exp2(splat(old_max - new_max))[0];
      scratch.row_max[row] = new_max;
      scratch.row_sum[row] *= rescale;
      float* o = scratch.o + row * scratch.padded_v;
      for (Index x = 0; x < scratch.padded_v; x += kLanes) store(o + x, load(o + x) * splat(rescale));
    }
    scratch.row_sum[row] += sum_of_lanes(sum);
  }

  static void finish(const AttendCall& call, const ForwardScratch& scratch, Index head, Index first, Index last) {
    for (Index row = first; row < last; ++row) {
      const float sum = scratch.row_sum[row - first];
      const float* o = scratch.o + (row - first) * scratch.padded_v;
      unpack(call.o, head, row, row + 1, sum > 0 ? 1 / sum : 0, o, scratch.padded_v);
      const float lse = sum > 0 ? kLn2 * (scratch.row_max[row - first] + __builtin_log2f(sum)) : kMinusInfinity;
      fill_rows(call.lse, head, row, row + 1, lse);
    }
  }
};

struct Linear {
  static float query_factor(Index) { return 1; }
  static void start(ForwardScratch&, Index) {}
  static void enter(const AttendCall&, ForwardScratch&, Index, const Tile&) {}
  static void weigh(ForwardScratch&, Index, Index, float* scores, const SeenColumns& seen) { set_unseen(scores, seen, 0); }
  static void finish(const AttendCall& call, const ForwardScratch& scratch, Index head, Index first, Index last) {
    unpack(call.o, head, first, last, 1, scratch.o, scratch.padded_v);
  }
};

struct DecayingLinear : Linear {
  static void enter(const AttendCall& call, ForwardScratch& scratch, Index kv, const Tile& tile) {
    scratch.decay.enter(call.decay, kv, tile, call.k.row_count);
  }
  static void weigh(ForwardScratch& scratch, Index, Index query, float* scores, const SeenColumns& seen) {
    scratch.decay.weaken(scores, query, seen);
    set_unseen(scores, seen, 0);
  }
};

/// o of the query rows first .. last-1 of one head, whose key/value head `kv` is packed in `scratch`.
template <class Kind>
double attend_block(const AttendCall& call, const KeySpan& span, ForwardScratch& scratch, Index kv, Index head, Index first,
                    Index last) {
  const Index qk = call.q.width;
  double flops = 0;
  pack_plain(call.q, head, first, last, Kind::query_factor(qk), scratch.q);
  set_zero(scratch.o, (last - first) * scratch.padded_v);
  Kind::start(scratch, last - first);
  for_each_tile(call.visible, call.sinks, span, first, last, [&](const Tile& tile) {
    const Index key = tile.begin - span.begin;
    const Index row = tile.first - first;
    Kind::enter(call, scratch, kv, tile);
    flops += multiply(tile.rows(), tile.columns(), qk, {scratch.q + row * qk, qk, 1},
                      {scratch.k_transposed + key * qk, qk * kPanel}, scratch.scores, kKeyBlock, false);
    for (Index i = 0; i < tile.rows(); ++i) {
      float* scores = scratch.scores + i * kKeyBlock;
      const SeenColumns seen = seen_columns(tile, i);
      clear_beside(scores, seen, tile.columns());
      if (!seen.empty()) Kind::weigh(scratch, row + i, tile.first + i, scores, seen);
    }
    flops += multiply(tile.rows(), scratch.padded_v, tile.columns(), {scratch.scores, kKeyBlock, 1},
                      {scratch.v + key * kPanel, scratch.padded_keys * kPanel}, scratch.o + row * scratch.padded_v,
                      scratch.padded_v, true);
  });
  Kind::finish(call, scratch, head, first, last);
  return flops;
}

template <class Kind>
double attend(const AttendCall& call) {
  const KeySpan span = keys_seen(call.visible, call.sinks, call.q.row_count);
  ForwardScratch scratch(call, span);
  double flops = 0;
  for (Index kv = 0; kv < call.k.heads; ++kv) {
    pack_transposed(call.k, kv, span.begin, span.end, scratch.k_transposed);
    pack_rows(call.v, kv, span.begin, span.end, scratch.padded_keys, scratch.v);
    const HeadSpan heads = heads_of_group(call.groups, call.q.heads, kv);
    for (Index head = heads.begin; head < heads.end; ++head) {
      for (Index first = 0; first < call.q.row_count;) {
        const Index last = block_end(call.visible, first, call.q.row_count);
        flops += attend_block<Kind>(call, span, scratch, kv, head, first, last);
        first = last;
      }
    }
  }
  return flops;
}

}  // namespace

double attend_softmax(const AttendCall& call) { return attend<Softmax>(call); }
double attend_linear(const AttendCall& call) { return call.decay.rates ? attend<DecayingLinear>(call) : attend<Linear>(call); }

}  // namespace hsap::HSAP_ISA
