#include "backend/cpu/cpu_device.hpp"

#include <algorithm>
#include <limits>
#include <new>

#include "backend/cpu/elementwise.hpp"

namespace hsap {

namespace {

constexpr std::align_val_t kCacheLine{64};

void give_back(float* memory) { ::operator delete(memory, kCacheLine); }

}  // namespace

DeviceMemory CpuDevice::allocate(std::size_t floats) {
  DeviceMemory memory(static_cast<float*>(::operator new(floats * sizeof(float), kCacheLine)), give_back);
  std::fill_n(memory.get(), floats, std::numeric_limits<float>::quiet_NaN());
  return memory;
}

void CpuDevice::attend(AttentionKind kind, const AttendCall& call) {
  (kind == AttentionKind::softmax ? kernels_.attend_softmax : kernels_.attend_linear)(call);
}

void CpuDevice::attend_backward(AttentionKind kind, const AttendBackwardCall& call) {
  (kind == AttentionKind::softmax ? kernels_.attend_backward_softmax : kernels_.attend_backward_linear)(call);
}

void CpuDevice::merge(const MergeCall& call) { merge_rows(call); }
void CpuDevice::delta(const DeltaCall& call) { delta_rows(call); }
void CpuDevice::accumulate(const TransferCall& call) { add_rows(call); }
void CpuDevice::copy(const TransferCall& call) { copy_rows(call); }
void CpuDevice::zero(const SliceView& slice) { zero_rows(slice); }
void CpuDevice::state_update(const StateUpdateCall& call) { kernels_.state_update(call); }
void CpuDevice::state_sum(const StateSumCall& call) { sum_states(call); }
void CpuDevice::state_apply(const StateApplyCall& call) { kernels_.state_apply(call); }

}  // namespace hsap
