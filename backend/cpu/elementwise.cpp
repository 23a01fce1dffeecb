#include "backend/cpu/elementwise.hpp"

#include <algorithm>
#include <cmath>

namespace hsap {

namespace {

float* row_of(const SliceView& slice, Index row) { return slice.data + slice.rows[row] * slice.row_stride; }

}  // namespace

void copy_rows(const TransferCall& call) {
  const Index elements = call.from.heads * call.from.width;  // the heads of a slice lie side by side
  for (Index row = 0; row < call.from.row_count; ++row) std::copy_n(row_of(call.from, row), elements, row_of(call.into, row));
}

void zero_rows(const SliceView& slice) {
  for (Index row = 0; row < slice.row_count; ++row) std::fill_n(row_of(slice, row), slice.heads * slice.width, 0.0F);
}

void add_rows(const TransferCall& call) {
  const Index elements = call.from.heads * call.from.width;
  for (Index row = 0; row < call.from.row_count; ++row) {
    const float* from = row_of(call.from, row);
    float* into = row_of(call.into, row);
    for (Index i = 0; i < elements; ++i) into[i] += from[i];
  }
}

void sum_states(const StateSumCall& call) {
  for (Index head = 0; head < call.state.heads; ++head) {
    float* state = row_of(call.state, 0) + head * call.state.width;
    std::fill_n(state, call.state.width, 0.0f);
    for (Index term = 0; term < call.count; ++term) {
      const float* from = row_of(call.terms[term], 0) + head * call.state.width;
      const float left = call.rates ? std::exp(-call.rates[head] * static_cast<float>(call.distances[term])) : 1;
      for (Index i = 0; i < call.state.width; ++i) state[i] += left * from[i];
    }
  }
}

void merge_rows(const MergeCall& call) {
  for (Index row = 0; row < call.o.row_count; ++row) {
    for (Index head = 0; head < call.o.heads; ++head) {
      float& lse = row_of(call.lse, row)[head];
      const float from_lse = row_of(call.from_lse, row)[head];
      const float largest = std::max(lse, from_lse);
      if (std::isinf(largest)) continue;  // neither has seen a key
      const float weight = std::exp(lse - largest);
      const float from_weight = std::exp(from_lse - largest);
      const float sum = weight + from_weight;
      const float factor = weight / sum;
      const float from_factor = from_weight / sum;
      lse = largest + std::log(sum);
      float* o = row_of(call.o, row) + head * call.o.width;
      const float* from_o = row_of(call.from_o, row) + head * call.from_o.width;
      for (Index i = 0; i < call.o.width; ++i) o[i] = factor * o[i] + from_factor * from_o[i];
    }
  }
}

void delta_rows(const DeltaCall& call) {
  for (Index row = 0; row < call.o.row_count; ++row)
    for (Index head = 0; head < call.o.heads; ++head) {
      const float* o = row_of(call.o, row) + head * call.o.width;
      const float* d_o = row_of(call.d_o, row) + head * call.d_o.width;
      float sum = 0;
      for (Index i = 0; i < call.o.width; ++i) sum += o[i] * d_o[i];
      row_of(call.delta, row)[head] = sum;
    }
}

}  // namespace hsap
