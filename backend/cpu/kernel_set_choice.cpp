#include "backend/cpu/kernel_set.hpp"

namespace hsap {

namespace {

constexpr double kWidestPanel = 32;  // columns, AVX-512
/// Blocks of query rows and their scores, at most this for widths up to 1,024 (see attend.cpp, attend_backward.cpp).
constexpr double kBlockBytes = 4 << 20;

double padded(double elements) { return elements + kWidestPanel; }

}  // namespace

const KernelSet& fastest_kernel_set() {
  static const KernelSet* const kFastest = supported_kernel_sets().front();
  return *kFastest;
}

double attend_scratch_bytes(Index key_rows, int qk_dim, int v_dim) {
  return padded(static_cast<double>(key_rows)) * (qk_dim + padded(v_dim)) * sizeof(float) + kBlockBytes;
}

double attend_backward_scratch_bytes(Index key_rows, int qk_dim, int v_dim) {
  return padded(static_cast<double>(key_rows)) * (qk_dim + v_dim + 2 * padded(qk_dim) + padded(v_dim)) * sizeof(float) +
         kBlockBytes;
}

}  // namespace hsap
