// How strategies write programs: buffers and ops are added in issue order, and the builder finds what each op must wait for
// (op_dependencies.hpp). verify() checks the result on its own, without this class.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "planner/ir/schedule.hpp"
#include "planner/strategies/op_dependencies.hpp"
#include "planner/strategies/strategy.hpp"
#include "planner/strategies/token_set_table.hpp"

namespace hsap {

class ProgramBuilder {
 public:
  /// A schedule without ops in which rank r owns owned[r]: makes the boundary buffers q, k, v, o, d_o, d_q, d_k, d_v.
  ProgramBuilder(std::string strategy, Degrees degrees, const Problem& problem, std::vector<TokenSet> owned);

  const AttentionShape& shape() const { return schedule_.shape; }
  const DocumentMask& mask() const { return schedule_.mask; }
  RankId ranks() const { return static_cast<RankId>(schedule_.ranks.size()); }
  const RankProgram& program(RankId rank) const { return schedule_.ranks[rank]; }
  /// Valid until the next intern().
  const TokenSet& tokens(TokenSetId id) const { return sets_[id]; }

  /// Id of an equal set, stored once.
  TokenSetId intern(const TokenSet& set) { return sets_.intern(set.ranges()); }
  /// The same of its ranges. @pre they are normalised
  TokenSetId intern(Ranges ranges) { return sets_.intern(ranges); }
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
  Schedule take();

 private:
  struct RankAccesses {
    BufferAccesses forward, backward;  ///< apart, because a barrier separates the phases
  };
  BufferAccesses& accesses_of(RankId rank, Phase phase);

  Schedule schedule_;
  TokenSetTable sets_;
  std::vector<std::unique_ptr<RankAccesses>> accesses_;  // [rank] once it has ops, until it is complete
  std::unique_ptr<RankAccesses> spare_;                  // of a rank that is complete, for the next one
};

}  // namespace hsap
