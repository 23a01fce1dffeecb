// How strategies write programs: buffers and ops are added in issue order, and the builder finds what each op must wait for.
// An op waits for the ops of other streams that wrote what it reads, or that read or wrote what it overwrites; order within a
// stream needs no edge. verify() checks the result on its own, without this class.
#pragma once

#include <array>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "planner/ir/schedule.hpp"
#include "planner/strategies/strategy.hpp"

namespace hsap {

class ProgramBuilder {
 public:
  /// A schedule without ops in which rank r owns owned[r]: makes the boundary buffers q, k, v, o, d_o, d_q, d_k, d_v.
  ProgramBuilder(std::string strategy, Degrees degrees, const Problem& problem, const std::vector<TokenSet>& owned);

  const AttentionShape& shape() const { return schedule_.shape; }
  const DocumentMask& mask() const { return schedule_.mask; }
  RankId ranks() const { return static_cast<RankId>(schedule_.ranks.size()); }
  const RankProgram& program(RankId rank) const { return schedule_.ranks[rank]; }
  /// Valid until the next intern().
  const TokenSet& tokens(TokenSetId id) const { return schedule_.token_sets[id]; }

  /// Id of an equal set, stored once.
  TokenSetId intern(const TokenSet& set) { return intern(set.ranges()); }
  /// The same of its ranges. @pre they are normalised
  TokenSetId intern(Ranges ranges);
  /// Room for so many buffers and ops of the rank in all, where it is known that there are many.
  void reserve(RankId rank, std::size_t buffers, std::size_t forward_ops, std::size_t backward_ops);
  BufferId add_buffer(RankId rank, Role role, DType dtype, TokenSetId tokens, HeadRange heads, Label name) {
    PooledList<Buffer>& buffers = schedule_.ranks[rank].buffers;
    buffers.emplace_back(role, dtype, tokens, heads, std::move(name));
    return static_cast<BufferId>(buffers.size() - 1);
  }

  Slice whole(RankId rank, BufferId buffer) const {
    const Buffer& b = schedule_.buffer(rank, buffer);
    return {buffer, b.tokens, b.heads};
  }
  Slice rows(RankId rank, BufferId buffer, TokenSetId tokens) const {
    return {buffer, tokens, schedule_.buffer(rank, buffer).heads};
  }
  static Slice part(BufferId buffer, TokenSetId tokens, HeadRange heads) { return {buffer, tokens, heads}; }

  /// An empty list of messages, which lies in the schedule.
  PooledList<Message> messages() const { return PooledList<Message>(schedule_.pool); }
  /// A message of the parts that have rows; not added when none has.
  void add_message(PooledList<Message>& messages, RankId peer, const std::vector<Slice>& parts) const;

  /// Appends an op, whose body is one of OpBody's, to the rank's phase, with its dependencies. An Exchange without messages and
  /// an Accumulate or Copy without rows are left out.
  template <class Body>
  void add(RankId rank, Phase phase, int stream, int step, Body&& body);
  template <class Body>
  void compute(RankId rank, Phase phase, int step, Body&& body) {
    add(rank, phase, kComputeStream, step, std::forward<Body>(body));
  }
  void communicate(RankId rank, Phase phase, int step, Exchange&& exchange) {
    add(rank, phase, kCommunicationStream, step, std::move(exchange));
  }

  /// Nothing more will be added to the rank: what dependencies are found with is given to the next rank.
  void complete(RankId rank);

  /// The finished schedule; the builder is spent.
  Schedule take() { return std::move(schedule_); }

 private:
  static constexpr int kStreams = 3;  // compute and at most two for communication
  static constexpr int kNone = 0;

  /// What an op did to a buffer.
  struct Access {
    OpIndex op;
    TokenSetId tokens;
    HeadRange heads;
    int before;  ///< number of the access before this one, of the same kind and stream to the same buffer, or kNone
  };
  /// The latest access of each stream to one buffer in one phase, of one kind: numbers of accesses of the phase, from 1 on.
  struct LatestAccesses {
    std::array<int, kStreams> of_stream{};
    unsigned streams = 0;  ///< bit s: stream s has one
  };
  struct BufferUse {
    LatestAccesses read, write;
  };
  struct PhaseUse {
    std::vector<BufferUse> buffers;
    std::vector<Access> accesses;
  };
  struct RankUse {
    PhaseUse forward, backward;
  };
  class OpAccesses;

  bool overlap(const Slice& a, const Access& b);

  // Sets by their hash: open addressing in a power of two of slots, for a look is taken at every message's rows.
  static constexpr auto kFreeSlot = static_cast<TokenSetId>(-1);
  std::size_t slot_of(std::size_t hash) const;
  void make_slots(std::size_t count);
  void put_in_slot(TokenSetId set);

  Schedule schedule_;
  std::vector<TokenSetId> slots_;
  std::vector<std::size_t> hash_of_set_;
  std::unordered_map<std::uint64_t, bool> intersects_;  // of pairs of large sets that were asked about
  std::vector<RankUse> use_;                            // [rank]; the phases apart, because a barrier separates them
  RankUse spare_;                                       // memory of a rank that is complete, for the next one
};

}  // namespace hsap
