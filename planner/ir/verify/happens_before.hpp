// Which ops of one rank and phase are surely done before which others start: by stream order and `after`, nothing else.
// A vector clock per op: for every stream the latest op known to be done (streams run in order, so all earlier ones are too).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "planner/ir/schedule.hpp"

namespace hsap::proof {

/// Streams that verify() accepts per rank: 0 .. kMaxStreams-1. Assumed enough: compute, and one per level of the network.
inline constexpr int kMaxStreams = 8;

/// Per stream, 1 + the id of the latest op known done; 0 = none.
using Clock = std::array<std::uint32_t, kMaxStreams>;

class HappensBefore {
 public:
  /// @pre streams are in range and `after` names earlier ops (check_structure). O(ops + edges).
  explicit HappensBefore(const PooledList<Op>& ops);

  /// True when `earlier` is done before `later` starts.
  bool operator()(OpIndex earlier, OpIndex later) const { return clocks_[later][streams_[earlier]] > earlier; }
  /// What is done before `op` starts.
  const Clock& before(OpIndex op) const { return clocks_[op]; }
  std::size_t stream_of(OpIndex op) const { return streams_[op]; }

 private:
  std::vector<Clock> clocks_;
  std::vector<std::uint8_t> streams_;
};

}  // namespace hsap::proof
