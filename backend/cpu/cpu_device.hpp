// A rank's device on the host: memory from the heap, kernels of the fastest instruction set, on the calling thread.
#pragma once

#include "backend/cpu/kernel_set.hpp"
#include "backend/device.hpp"

namespace hsap {

class CpuDevice : public Device {
 public:
  explicit CpuDevice(const KernelSet& kernels) : kernels_(kernels) {}
  DeviceMemory allocate(std::size_t floats) override;
  void attend(AttentionKind kind, const AttendCall& call) override;
  void attend_backward(AttentionKind kind, const AttendBackwardCall& call) override;
  void merge(const MergeCall& call) override;
  void delta(const DeltaCall& call) override;
  void accumulate(const TransferCall& call) override;
  void copy(const TransferCall& call) override;
  void zero(const SliceView& slice) override;
  void state_update(const StateUpdateCall& call) override;
  void state_sum(const StateSumCall& call) override;
  void state_apply(const StateApplyCall& call) override;

 private:
  const KernelSet& kernels_;
};

}  // namespace hsap
