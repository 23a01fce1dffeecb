// Small schedules written by hand, for tests of the executor: they owe nothing to the strategies. All of them pass verify().
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "planner/ir/schedule.hpp"

namespace hsap {

/// Adds token sets, buffers and ops to a schedule with the least ceremony.
class ScheduleMaker {
 public:
  ScheduleMaker(const std::string& name, const AttentionShape& shape, const DocumentMask& mask, std::size_t ranks) {
    schedule.strategy = name;
    schedule.degrees = {1, static_cast<int>(ranks)};
    schedule.shape = shape;
    schedule.shape.mask = mask.rule();
    schedule.mask = mask;
    schedule.token_sets = {TokenSet{}};
    schedule.ranks.resize(ranks);
  }

  TokenSetId tokens(const TokenSet& set) {
    const auto known = std::find(schedule.token_sets.begin(), schedule.token_sets.end(), set);
    const auto id = static_cast<TokenSetId>(known - schedule.token_sets.begin());
    if (known == schedule.token_sets.end()) schedule.token_sets.push_back(set);
    return id;
  }

  /// A buffer with all heads of its role, as the slice that is the whole of it.
  Slice buffer(RankId rank, Role role, const TokenSet& set, const std::string& name) {
    PooledList<Buffer>& buffers = schedule.ranks[rank].buffers;
    const int heads = has_query_heads(role) ? schedule.shape.query_heads : schedule.shape.kv_heads;
    buffers.push_back({role, DType::fp32, tokens(set), {0, heads}, name});
    return {static_cast<BufferId>(buffers.size() - 1), buffers.back().tokens, {0, heads}};
  }

  OpIndex op(RankId rank, Phase phase, OpBody body, OpList after = {}, int step = 0) {
    PooledList<Op>& ops = phase == Phase::forward ? schedule.ranks[rank].forward : schedule.ranks[rank].backward;
    const int stream = std::holds_alternative<Exchange>(body) ? kCommunicationStream : kComputeStream;
    ops.push_back({static_cast<OpIndex>(ops.size()), stream, step, std::move(after), std::move(body)});
    return ops.back().id;
  }

  Schedule schedule;
};

/// The boundary buffers of one rank, and its lse.
struct Boundary {
  Slice q, k, v, o, d_o, d_q, d_k, d_v;
  std::optional<Slice> lse;
};

inline Boundary make_boundary(ScheduleMaker& maker, RankId rank, const TokenSet& set) {
  Boundary b;
  b.q = maker.buffer(rank, Role::q, set, "q");
  b.k = maker.buffer(rank, Role::k, set, "k");
  b.v = maker.buffer(rank, Role::v, set, "v");
  b.o = maker.buffer(rank, Role::o, set, "o");
  b.d_o = maker.buffer(rank, Role::d_o, set, "d_o");
  b.d_q = maker.buffer(rank, Role::d_q, set, "d_q");
  b.d_k = maker.buffer(rank, Role::d_k, set, "d_k");
  b.d_v = maker.buffer(rank, Role::d_v, set, "d_v");
  if (maker.schedule.shape.kind == AttentionKind::softmax) b.lse = maker.buffer(rank, Role::lse, set, "lse");
  RankProgram& program = maker.schedule.ranks[rank];
  program.tokens = maker.tokens(set);
  program.boundary = {b.q.buffer, b.k.buffer, b.v.buffer, b.o.buffer, b.d_o.buffer, b.d_q.buffer, b.d_k.buffer, b.d_v.buffer};
  return b;
}

inline AttendBackward attend_backward(const Boundary& b, const Slice& k, const Slice& v, const Slice& d_q, const Slice& d_k,
                                      const Slice& d_v) {
  return {b.q, k, v, b.lse ? std::optional(b.o) : std::nullopt, b.lse, b.d_o, d_q, d_k, d_v};
}

/// One rank, one op each way.
inline Schedule one_rank(const AttentionShape& shape, const DocumentMask& mask) {
  ScheduleMaker maker("one rank", shape, mask, 1);
  const Boundary b = make_boundary(maker, 0, TokenSet{{0, mask.tokens()}});
  maker.op(0, Phase::forward, Attend{b.q, b.k, b.v, b.o, b.lse});
  maker.op(0, Phase::backward, attend_backward(b, b.k, b.v, b.d_q, b.d_k, b.d_v));
  return maker.schedule;
}

/// Softmax ring: k and v go round, each rank attends what has arrived while the next hop is under way, and merges. Backward
/// uses the k and v kept from forward and sends each d_k, d_v straight to its owner. held[r] = tokens of rank r.
inline Schedule ring(const AttentionShape& shape, const DocumentMask& mask, const std::vector<TokenSet>& held) {
  const auto ranks = static_cast<RankId>(held.size());
  ScheduleMaker maker("ring by hand", shape, mask, held.size());
  for (RankId rank = 0; rank < ranks; ++rank) {
    const RankId next = (rank + 1) % ranks;
    const RankId before = (rank + ranks - 1) % ranks;
    const Boundary b = make_boundary(maker, rank, held[rank]);
    const auto owner = [&](RankId step) { return (rank + ranks - step) % ranks; };
    std::vector<Slice> k{b.k};
    std::vector<Slice> v{b.v};
    for (RankId step = 1; step < ranks; ++step) {
      k.push_back(maker.buffer(rank, Role::k, held[owner(step)], "k hop " + std::to_string(step)));
      v.push_back(maker.buffer(rank, Role::v, held[owner(step)], "v hop " + std::to_string(step)));
    }

    OpList hops;
    for (RankId step = 1; step < ranks; ++step)
      hops.push_back(maker.op(rank, Phase::forward,
                              Exchange{{{next, {k[step - 1], v[step - 1]}}}, {{before, {k[step], v[step]}}}}, {},
                              static_cast<int>(step)));
    maker.op(rank, Phase::forward, Attend{b.q, b.k, b.v, b.o, b.lse});
    for (RankId step = 1; step < ranks; ++step) {
      const Slice o = maker.buffer(rank, Role::o, held[rank], "o of hop " + std::to_string(step));
      const Slice lse = maker.buffer(rank, Role::lse, held[rank], "lse of hop " + std::to_string(step));
      maker.op(rank, Phase::forward, Attend{b.q, k[step], v[step], o, lse}, {hops[step - 1]}, static_cast<int>(step));
      maker.op(rank, Phase::forward, Merge{o, lse, b.o, *b.lse}, {}, static_cast<int>(step));
    }

    maker.op(rank, Phase::backward, attend_backward(b, b.k, b.v, b.d_q, b.d_k, b.d_v));
    for (RankId step = 1; step < ranks; ++step) {
      const std::string hop = " of hop " + std::to_string(step);
      const Slice d_q = maker.buffer(rank, Role::d_q, held[rank], "d_q" + hop);
      const Slice d_k = maker.buffer(rank, Role::d_k, held[owner(step)], "d_k" + hop);
      const Slice d_v = maker.buffer(rank, Role::d_v, held[owner(step)], "d_v" + hop);
      const Slice d_k_back = maker.buffer(rank, Role::d_k, held[rank], "d_k back" + hop);
      const Slice d_v_back = maker.buffer(rank, Role::d_v, held[rank], "d_v back" + hop);
      const OpIndex attend = maker.op(rank, Phase::backward, attend_backward(b, k[step], v[step], d_q, d_k, d_v));
      const OpIndex home =
          maker.op(rank, Phase::backward,
                   Exchange{{{owner(step), {d_k, d_v}}}, {{(rank + step) % ranks, {d_k_back, d_v_back}}}}, {attend});
      maker.op(rank, Phase::backward, Accumulate{{{d_q, b.d_q}, {d_k_back, b.d_k}, {d_v_back, b.d_v}}}, {home});
    }
  }
  return maker.schedule;
}

/// Linear attention of one document over two ranks: the state of the first half's keys goes forward, that of the second half's
/// queries comes back.
inline Schedule state_hop(const AttentionShape& shape, Token first_tokens, Token tokens) {
  const TokenSet first{{0, first_tokens}};
  const TokenSet second{{first_tokens, tokens}};
  ScheduleMaker maker("state hop by hand", shape, DocumentMask({0, tokens}), 2);
  const Boundary a = make_boundary(maker, 0, first);
  const Boundary b = make_boundary(maker, 1, second);
  const Slice sent = maker.buffer(0, Role::state, first, "state");
  const Slice received = maker.buffer(1, Role::state, first, "state before");
  const Slice d_sent = maker.buffer(1, Role::d_state, second, "d_state");
  const Slice d_received = maker.buffer(0, Role::d_state, second, "d_state after");
  const Slice o_part = maker.buffer(1, Role::o, second, "o of the state");
  const Slice d_q_part = maker.buffer(1, Role::d_q, second, "d_q of the state");
  const Slice d_k_part = maker.buffer(0, Role::d_k, first, "d_k of the state");
  const Slice d_v_part = maker.buffer(0, Role::d_v, first, "d_v of the state");

  const OpIndex update = maker.op(0, Phase::forward, StateUpdate{a.k, a.v, std::nullopt, sent});
  maker.op(0, Phase::forward, Exchange{{{1, {sent}}}, {}}, {update});
  maker.op(0, Phase::forward, Attend{a.q, a.k, a.v, a.o, std::nullopt});
  const OpIndex arrival = maker.op(1, Phase::forward, Exchange{{}, {{0, {received}}}});
  maker.op(1, Phase::forward, Attend{b.q, b.k, b.v, b.o, std::nullopt});
  maker.op(1, Phase::forward, StateApply{b.q, received, o_part, false}, {arrival});
  maker.op(1, Phase::forward, Accumulate{{{o_part, b.o}}});

  const OpIndex d_update = maker.op(1, Phase::backward, StateUpdate{b.q, b.d_o, std::nullopt, d_sent});
  maker.op(1, Phase::backward, Exchange{{{0, {d_sent}}}, {}}, {d_update});
  maker.op(1, Phase::backward, attend_backward(b, b.k, b.v, b.d_q, b.d_k, b.d_v));
  maker.op(1, Phase::backward, StateApply{b.d_o, received, d_q_part, true});
  maker.op(1, Phase::backward, Accumulate{{{d_q_part, b.d_q}}});
  const OpIndex d_arrival = maker.op(0, Phase::backward, Exchange{{}, {{1, {d_received}}}});
  maker.op(0, Phase::backward, attend_backward(a, a.k, a.v, a.d_q, a.d_k, a.d_v));
  maker.op(0, Phase::backward, StateApply{a.v, d_received, d_k_part, true}, {d_arrival});
  maker.op(0, Phase::backward, StateApply{a.k, d_received, d_v_part, false}, {d_arrival});
  maker.op(0, Phase::backward, Accumulate{{{d_k_part, a.d_k}, {d_v_part, a.d_v}}});
  return maker.schedule;
}

}  // namespace hsap
