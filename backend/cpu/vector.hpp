// Vectors of fp32 for one instruction set. CMake compiles the files that include this once per instruction set and passes
// HSAP_ISA (a namespace) and HSAP_LANES (fp32 numbers in a register). Everything here is in an unnamed namespace and uses no
// standard-library function: the linker must never share code made for one processor with code made for another.
#pragma once

#include "backend/slice_view.hpp"

namespace hsap::HSAP_ISA {
namespace {

constexpr Index kLanes = HSAP_LANES;
constexpr float kMinusInfinity = -__builtin_inff();

using Vector [[gnu::vector_size(HSAP_LANES * sizeof(float)), gnu::may_alias]] = float;
using LooseVector [[gnu::vector_size(HSAP_LANES * sizeof(float)), gnu::may_alias, gnu::aligned(alignof(float))]] = float;
using IntVector [[gnu::vector_size(HSAP_LANES * sizeof(int)), gnu::may_alias]] = int;

inline Vector load(const float* from) { return *reinterpret_cast<const LooseVector*>(from); }
inline void store(float* to, Vector x) { *reinterpret_cast<LooseVector*>(to) = x; }
/// (x + 0 would cost an addition: it is not x when x is -0.)
inline Vector splat(float x) { return x - Vector{}; }

inline Index smaller(Index a, Index b) { return a < b ? a : b; }
inline Index larger(Index a, Index b) { return a > b ? a : b; }
inline Index round_down(Index x, Index to) { return x / to * to; }
inline Index round_up(Index x, Index to) { return (x + to - 1) / to * to; }

inline float largest_lane(Vector x) {
  float largest = x[0];
  for (Index i = 1; i < kLanes; ++i) largest = x[i] > largest ? x[i] : largest;
  return largest;
}

inline float sum_of_lanes(Vector x) {
  float sum = x[0];
  for (Index i = 1; i < kLanes; ++i) sum += x[i];
  return sum;
}

/// 2^x; 0 below -126 (and for -infinity). x = n + f with n the nearest integer: a minimax polynomial of degree 6 for 2^f on
/// [-1/2, 1/2] (our Remez run: relative error 1.9e-9, below fp32's rounding), then n is added to the exponent bits.
inline Vector exp2(Vector x) {
  const Vector in_range = x < -126.0f ? splat(-126.0f) : x;
  constexpr float kRoundToInteger = 12582912.0f;  // 1.5 * 2^23: sums near it have no bits after the point
  const Vector rounded = in_range + kRoundToInteger;
  const Vector f = in_range - (rounded - kRoundToInteger);
  Vector p = splat(1.5345812e-4f);
  p = p * f + 1.3399931e-3f;
  p = p * f + 9.6184890e-3f;
  p = p * f + 5.5503288e-2f;
  p = p * f + 2.4022647e-1f;
  p = p * f + 6.9314721e-1f;
  p = p * f + 1.0f;
  const IntVector n = reinterpret_cast<IntVector>(rounded) - reinterpret_cast<IntVector>(splat(kRoundToInteger));
  const Vector result = reinterpret_cast<Vector>(reinterpret_cast<IntVector>(p) + (n << 23));
  return x < -126.0f ? Vector{} : result;
}

}  // namespace
}  // namespace hsap::HSAP_ISA
