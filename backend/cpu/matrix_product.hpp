// The matrix product that all CPU kernels are made of, and the packing of its operands. Compiled per instruction set
// (vector.hpp).
//
// B is stored in panels of kPanel columns, each [depth][kPanel] without gaps, zeros beyond the last column: so the innermost
// loop reads B from front to back. A is read one element at a time and may have any strides, so its transpose needs no copy.
#pragma once

#include "backend/cpu/vector.hpp"

namespace hsap::HSAP_ISA {
namespace {

constexpr Index kPanel = 2 * kLanes;
/// Rows of the register tile: 12 x 2 of AVX-512's 32 registers, 6 x 2 of 16, hold sums; the rest holds the operands.
constexpr int kTileRows = kLanes == 16 ? 12 : 6;

/// Element (row, step) at data[row * row_stride + step * step_stride].
struct Left {
  const float* data;
  Index row_stride;
  Index step_stride;
};

/// Panel j begins at data + j * stride.
struct Panels {
  const float* data;
  Index stride;
};

/// c[Rows, kPanel] = (add ? c : 0) + a[Rows, depth] panel[depth, kPanel]. Not inlined, and every loop over the
/// tile unrolled, so that the sums stay in registers.
template <int Rows>
[[gnu::noinline]] void multiply_tile(Index depth, Left a, const float* panel, float* c, Index c_stride, bool add) {
  Vector sum[Rows][2] = {};
  if (add) {
#pragma GCC unroll 12
    for (int i = 0; i < Rows; ++i) {
      sum[i][0] = load(c + i * c_stride);
      sum[i][1] = load(c + i * c_stride + kLanes);
    }
  }
  for (Index step = 0; step < depth; ++step) {
    const Vector b0 = load(panel + step * kPanel);
    const Vector b1 = load(panel + step * kPanel + kLanes);
#pragma GCC unroll 12
    for (int i = 0; i < Rows; ++i) {
      const Vector x = splat(a.data[i * a.row_stride + step * a.step_stride]);
      sum[i][0] += x * b0;
      sum[i][1] += x * b1;
    }
  }
#pragma GCC unroll 12
  for (int i = 0; i < Rows; ++i) {
    store(c + i * c_stride, sum[i][0]);
    store(c + i * c_stride + kLanes, sum[i][1]);
  }
}

/// Tiles of `Rows` rows while they fit, then of half as many: 12, 6, 3, 1.
template <int Rows>
void multiply_panel(Index rows, Index depth, Left a, const float* panel, float* c, Index c_stride, bool add) {
  for (; rows >= Rows; rows -= Rows) {
    multiply_tile<Rows>(depth, a, panel, c, c_stride, add);
    a.data += Rows * a.row_stride;
    c += Rows * c_stride;
  }
  if constexpr (Rows > 1) {
    if (rows > 0) multiply_panel<Rows / 2>(rows, depth, a, panel, c, c_stride, add);
  }
}

/// c[rows, columns] = (add ? c : 0) + a[rows, depth] b[depth, columns]; columns is a multiple of kPanel. Returns the FLOPs.
inline double multiply(Index rows, Index columns, Index depth, Left a, Panels b, float* c, Index c_stride, bool add) {
  for (Index j = 0; j < columns; j += kPanel)
    multiply_panel<kTileRows>(rows, depth, a, b.data + j / kPanel * b.stride, c + j, c_stride, add);
  return 2.0 * static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(depth);
}

inline const float* row_of(const SliceView& slice, Index head, Index row) {
  return slice.data + slice.rows[row] * slice.row_stride + head * slice.width;
}

/// out [end - begin, width] = factor * rows begin .. end-1 of one head.
inline void pack_plain(const SliceView& slice, Index head, Index begin, Index end, float factor, float* out) {
  for (Index row = begin; row < end; ++row, out += slice.width) {
    const float* from = row_of(slice, head, row);
    for (Index x = 0; x < slice.width; ++x) out[x] = factor * from[x];
  }
}

/// Panels whose columns are the rows begin .. end-1 of one head: B = slice^T, depth = width. Stride between panels: width *
/// kPanel.
inline void pack_transposed(const SliceView& slice, Index head, Index begin, Index end, float* out) {
  for (Index panel = begin; panel < end; panel += kPanel, out += slice.width * kPanel) {
    const Index columns = smaller(kPanel, end - panel);
    for (Index column = 0; column < columns; ++column) {
      const float* from = row_of(slice, head, panel + column);
      for (Index x = 0; x < slice.width; ++x) out[x * kPanel + column] = from[x];
    }
    for (Index x = 0; x < slice.width; ++x)
      for (Index column = columns; column < kPanel; ++column) out[x * kPanel + column] = 0;
  }
}

/// Panels whose columns are the elements of a row: B = slice, depth = rows begin .. end-1, followed by zero rows up to `depth`
/// rows. Stride between panels: depth * kPanel.
inline void pack_rows(const SliceView& slice, Index head, Index begin, Index end, Index depth, float* out) {
  for (Index panel = 0; panel < slice.width; panel += kPanel) {
    const Index columns = smaller(kPanel, slice.width - panel);
    for (Index row = begin; row < begin + depth; ++row, out += kPanel) {
      Index column = 0;
      if (row < end) {
        const float* from = row_of(slice, head, row) + panel;
        for (; column < columns; ++column) out[column] = from[column];
      }
      for (; column < kPanel; ++column) out[column] = 0;
    }
  }
}

/// Rows begin .. end-1 of one head = factor * from [end - begin, width] (rows `stride` apart).
inline void unpack(const SliceView& slice, Index head, Index begin, Index end, float factor, const float* from, Index stride) {
  for (Index row = begin; row < end; ++row, from += stride) {
    float* to = slice.data + slice.rows[row] * slice.row_stride + head * slice.width;
    for (Index x = 0; x < slice.width; ++x) to[x] = factor * from[x];
  }
}

inline void set_zero(float* data, Index count) {
  for (Index i = 0; i < count; ++i) data[i] = 0;
}

inline void fill_rows(const SliceView& slice, Index head, Index begin, Index end, float value) {
  for (Index row = begin; row < end; ++row) {
    float* to = slice.data + slice.rows[row] * slice.row_stride + head * slice.width;
    for (Index x = 0; x < slice.width; ++x) to[x] = value;
  }
}

}  // namespace
}  // namespace hsap::HSAP_ISA
