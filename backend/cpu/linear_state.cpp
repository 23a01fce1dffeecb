// The state of linear attention on one thread: what it gathers from rows, and what it gives to rows. Compiled per instruction
// set.
#include "backend/cpu/attention_tiles.hpp"
#include "backend/cpu/isa_kernels.hpp"
#include "backend/cpu/scratch.hpp"

namespace hsap::HSAP_ISA {
namespace {

constexpr Index kRowBlock = 192;

float* state_of(const SliceView& state, Index head) {
  return state.data + state.rows[0] * state.row_stride + head * state.width;
}

/// exp(-rate distance), which is 1 without decay.
float what_is_left(const float* rates, Index kv, Index distance) {
  constexpr float kLog2E = 1.44269504f;
  return rates ? exp2(splat(-kLog2E * rates[kv] * static_cast<float>(distance)))[0] : 1;
}

/// Rows first .. last-1 of one head, each times what is left of it at the state of key/value head `kv`.
void pack_weakened(const SliceView& slice, Index head, Index first, Index last, const RowDecay& decay, Index kv, float* out) {
  pack_plain(slice, head, first, last, 1, out);
  if (!decay.rates) return;
  for (Index row = first; row < last; ++row, out += slice.width) {
    const float left = what_is_left(decay.rates, kv, decay.first + row * decay.step);
    for (Index x = 0; x < slice.width; ++x) out[x] *= left;
  }
}

}  // namespace

double state_update(const StateUpdateCall& call) {
  const Index height = call.a.width;
  const Index width = call.b.width;
  const Index padded_width = round_up(width, kPanel);
  const Scratch memory(kRowBlock * (padded_width + height) + height * padded_width);
  float* b = memory.floats;
  float* sum = b + kRowBlock * padded_width;
  float* a = sum + height * padded_width;
  double flops = 0;
  for (Index kv = 0; kv < call.state.heads; ++kv) {
    set_zero(sum, height * padded_width);
    const HeadSpan heads = heads_of_group(call.groups, call.a.heads, kv);
    for (Index head = heads.begin; head < heads.end; ++head) {
      for (Index first = 0; first < call.a.row_count; first += kRowBlock) {
        const Index last = smaller(first + kRowBlock, call.a.row_count);
        pack_weakened(call.a, head, first, last, call.decay, kv, a);
        pack_rows(call.b, head, first, last, kRowBlock, b);
        flops += multiply(height, padded_width, last - first, {a, 1, height}, {b, kRowBlock * kPanel}, sum, padded_width, true);
      }
    }
    float* state = state_of(call.state, kv);
    const float* before = call.before.data ? state_of(call.before, kv) : nullptr;
    const float left = what_is_left(call.decay.rates, kv, call.a.row_count);
    for (Index i = 0; i < height; ++i)
      for (Index j = 0; j < width; ++j)
        state[i * width + j] = sum[i * padded_width + j] + (before ? left * before[i * width + j] : 0);
  }
  return flops;
}

double state_apply(const StateApplyCall& call) {
  const Index depth = call.x.width;
  const Index width = call.out.width;
  const Index padded_width = round_up(width, kPanel);
  const Scratch memory(depth * padded_width + kRowBlock * (padded_width + depth));
  float* panels = memory.floats;
  float* out = panels + depth * padded_width;
  float* x = out + kRowBlock * padded_width;
  const Index step_stride = call.transposed ? 1 : width;
  const Index column_stride = call.transposed ? depth : 1;
  double flops = 0;
  for (Index kv = 0; kv < call.state.heads; ++kv) {
    const float* state = state_of(call.state, kv);
    for (Index column = 0; column < padded_width; ++column) {
      float* to = panels + column / kPanel * depth * kPanel + column % kPanel;
      for (Index step = 0; step < depth; ++step)
        to[step * kPanel] = column < width ? state[step * step_stride + column * column_stride] : 0;
    }
    const HeadSpan heads = heads_of_group(call.groups, call.x.heads, kv);
    for (Index head = heads.begin; head < heads.end; ++head) {
      for (Index first = 0; first < call.x.row_count; first += kRowBlock) {
        const Index last = smaller(first + kRowBlock, call.x.row_count);
        pack_weakened(call.x, head, first, last, call.decay, kv, x);
        flops += multiply(last - first, padded_width, depth, {x, depth, 1}, {panels, depth * kPanel}, out, padded_width, false);
        unpack(call.out, head, first, last, 1, out, padded_width);
      }
    }
  }
  return flops;
}

}  // namespace hsap::HSAP_ISA
