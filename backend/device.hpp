// The seam to what computes: memory and kernels of one rank. One function per kind of compute op of the Schedule, so that a new
// kind does not compile until every device has it. Implemented by cpu/cpu_device.hpp; tests slow it down or make it fail.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "backend/kernel_calls.hpp"
#include "planner/ir/attention_shape.hpp"

namespace hsap {

/// fp32 memory of a buffer; gives itself back.
using DeviceMemory = std::unique_ptr<float[], std::function<void(float*)>>;

/// Every function blocks the calling thread until its result is in memory. Several threads of a rank may call at a time: a
/// stream of the schedule is a thread here.
class Device {
 public:
  virtual ~Device() = default;
  /// Filled with NaN, so that what is read before it is written shows in the results. Throws std::bad_alloc.
  virtual DeviceMemory allocate(std::size_t floats) = 0;
  virtual void attend(AttentionKind kind, const AttendCall& call) = 0;
  virtual void attend_backward(AttentionKind kind, const AttendBackwardCall& call) = 0;
  virtual void merge(const MergeCall& call) = 0;
  virtual void delta(const DeltaCall& call) = 0;
  virtual void accumulate(const TransferCall& call) = 0;
  virtual void copy(const TransferCall& call) = 0;
  virtual void zero(const SliceView& slice) = 0;
  virtual void state_update(const StateUpdateCall& call) = 0;
  virtual void state_sum(const StateSumCall& call) = 0;
  virtual void state_apply(const StateApplyCall& call) = 0;
};

}  // namespace hsap
