// What an op must wait for: the ops of other streams that wrote what it reads, or that read or wrote what it overwrites. Order
// within a stream needs no edge.
#pragma once

#include <array>
#include <bit>
#include <vector>

#include "planner/ir/schedule.hpp"
#include "planner/strategies/token_set_table.hpp"

namespace hsap {

/// What the ops of one rank and phase did to its buffers, so far.
class BufferAccesses {
 public:
  static constexpr int kStreams = 3;  ///< compute and at most two for communication

  void make_room(std::size_t buffers) {
    if (of_buffer_.size() < buffers) of_buffer_.resize(buffers);
  }
  /// Keeps the memory.
  void clear() { of_buffer_.clear(), accesses_.clear(); }

 private:
  friend class OpDependencies;
  static constexpr int kNone = 0;

  struct Access {
    OpIndex op;
    TokenSetId tokens;
    HeadRange heads;
    int before;  ///< number of the access before this one, of the same kind and stream to the same buffer, or kNone
  };
  /// The latest access of each stream to one buffer, of one kind: numbers of accesses, from 1 on.
  struct Latest {
    std::array<int, kStreams> of_stream{};
    unsigned streams = 0;  ///< bit s: stream s has one
  };
  struct ReadsAndWrites {
    Latest read, write;
  };

  const Access& access(int number) const { return accesses_[static_cast<std::size_t>(number) - 1]; }

  std::vector<ReadsAndWrites> of_buffer_;
  std::vector<Access> accesses_;
};

/// One op's accesses, noted one by one, and what it must wait for.
class OpDependencies {
 public:
  /// `earlier`: with room for all buffers of the rank. @pre 0 <= stream < kStreams
  OpDependencies(TokenSetTable& sets, BufferAccesses& earlier, OpIndex op, int stream)
      : sets_(sets), earlier_(earlier), op_(op), stream_(static_cast<std::size_t>(stream)), stream_bit_(1U << stream) {}

  void read(const Slice& slice) {
    BufferAccesses::ReadsAndWrites& buffer = earlier_.of_buffer_[slice.buffer];
    wait_for(slice, buffer.write);
    note(slice, buffer.read);
  }
  void write(const Slice& slice) {
    BufferAccesses::ReadsAndWrites& buffer = earlier_.of_buffer_[slice.buffer];
    wait_for(slice, buffer.write);
    wait_for(slice, buffer.read);
    note(slice, buffer.write);
  }
  OpList after() const;

 private:
  /// Those accesses of other streams that overlap the slice.
  void wait_for(const Slice& slice, const BufferAccesses::Latest& latest) {
    for (unsigned others = latest.streams & ~stream_bit_; others != 0; others &= others - 1) {
      const auto stream = static_cast<std::size_t>(std::countr_zero(others));
      const BufferAccesses::Access& access = earlier_.access(latest.of_stream[stream]);
      if (access.op >= latest_[stream]) find_latest(slice, access, stream);  // else it or a later one is waited for
    }
  }
  /// Of this access and those before it.
  void find_latest(const Slice& slice, const BufferAccesses::Access& last, std::size_t stream);
  bool overlap(const Slice& slice, const BufferAccesses::Access& access);
  void note(const Slice& slice, BufferAccesses::Latest& latest) {
    int& last = latest.of_stream[stream_];
    earlier_.accesses_.push_back({op_, slice.tokens, slice.heads, last});
    last = static_cast<int>(earlier_.accesses_.size());
    latest.streams |= stream_bit_;
  }

  TokenSetTable& sets_;
  BufferAccesses& earlier_;
  const OpIndex op_;
  const std::size_t stream_;
  const unsigned stream_bit_;
  std::array<OpIndex, BufferAccesses::kStreams> latest_{};  // 1 + the op of each other stream to wait for, or 0
};

}  // namespace hsap
