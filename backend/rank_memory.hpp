// The memory of one rank. A buffer gets memory when it is first used and loses it after its last use; uses are the ops of both
// phases that name it, the scatter of the inputs and the gather of the results. So what backward reads of forward's buffers
// stays, and the rest goes. Counting uses, not positions, is right whatever order the streams run in.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "backend/device.hpp"
#include "planner/ir/schedule.hpp"

namespace hsap {

/// Buffers that an op reads or writes, each once, ascending.
std::vector<BufferId> buffers_of(const OpBody& body);

/// Several threads may call at a time.
class RankMemory {
 public:
  RankMemory(const Schedule& schedule, RankId rank, Device& device);

  /// Memory of the buffer, allocated now if this is its first use. Stays until end_use() of the last use. Throws
  /// std::bad_alloc.
  float* begin_use(BufferId id);
  /// Of a buffer in use.
  float* memory(BufferId id) const { return buffers_[id].memory.get(); }
  void end_use(BufferId id);

 private:
  struct Place {
    std::mutex mutex;
    DeviceMemory memory;
    int uses_left = 0;
  };
  const Schedule& schedule_;
  const RankId rank_;
  Device& device_;
  std::vector<Place> buffers_;
};

}  // namespace hsap
