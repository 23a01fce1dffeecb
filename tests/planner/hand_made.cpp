#include "tests/planner/hand_made.hpp"

#include <algorithm>

namespace hsap::test {

namespace {

AttentionShape shape_of(AttentionKind kind, int query_heads, int kv_heads) {
  AttentionShape shape;
  shape.kind = kind;
  shape.query_heads = query_heads;
  shape.kv_heads = kv_heads;
  shape.qk_dim = 4;
  shape.v_dim = 4;
  return shape;
}

}  // namespace

HandMade::HandMade(const AttentionShape& shape, DocumentMask mask, const std::vector<TokenSet>& owned) {
  schedule.strategy = "by hand";
  schedule.degrees = {1, static_cast<int>(owned.size())};
  schedule.shape = shape;
  schedule.mask = std::move(mask);
  schedule.token_sets.emplace_back();
  for (RankId rank = 0; rank < owned.size(); ++rank) {
    RankProgram& program = schedule.ranks.emplace_back();
    program.tokens = set(owned[rank]);
    const auto make = [&](Role role) {
      return add_buffer(rank, role, owned[rank], has_query_heads(role) ? query_heads() : kv_heads(), to_string(role));
    };
    schedule.ranks[rank].boundary = {make(Role::q),   make(Role::k),   make(Role::v),   make(Role::o),
                                     make(Role::d_o), make(Role::d_q), make(Role::d_k), make(Role::d_v)};
    if (shape.kind == AttentionKind::softmax) lse_.push_back(make(Role::lse));
  }
}

TokenSetId HandMade::set(const TokenSet& tokens) {
  auto& sets = schedule.token_sets;
  const auto known = std::find(sets.begin(), sets.end(), tokens);
  if (known == sets.end()) {
    sets.push_back(tokens);
    return static_cast<TokenSetId>(sets.size() - 1);
  }
  return static_cast<TokenSetId>(known - sets.begin());
}

BufferId HandMade::add_buffer(RankId rank, Role role, const TokenSet& tokens, HeadRange heads, const std::string& name) {
  auto& buffers = schedule.ranks[rank].buffers;
  const bool in_fp32 = role == Role::lse || role == Role::state || role == Role::d_state;
  buffers.push_back({role, in_fp32 ? DType::fp32 : schedule.shape.dtype, set(tokens), heads, name});
  return static_cast<BufferId>(buffers.size() - 1);
}

Slice HandMade::all(RankId rank, BufferId id) const {
  const Buffer& buffer = schedule.buffer(rank, id);
  return {id, buffer.tokens, buffer.heads};
}

Slice HandMade::rows(RankId rank, BufferId id, const TokenSet& tokens) {
  return {id, set(tokens), schedule.buffer(rank, id).heads};
}

Slice HandMade::part(BufferId id, const TokenSet& tokens, HeadRange heads) { return {id, set(tokens), heads}; }

OpIndex HandMade::add(RankId rank, Phase phase, OpBody body, OpList after, int step) {
  RankProgram& program = schedule.ranks[rank];
  auto& ops = phase == Phase::forward ? program.forward : program.backward;
  Op op;
  op.id = static_cast<OpIndex>(ops.size());
  op.stream = std::holds_alternative<Exchange>(body) ? kCommunicationStream : kComputeStream;
  op.step = step;
  op.after = std::move(after);
  op.body = std::move(body);
  ops.push_back(std::move(op));
  return ops.back().id;
}

OpIndex HandMade::attend_locally(RankId rank) {
  const RankBoundary& b = boundary(rank);
  Attend attend{all(rank, b.q), all(rank, b.k), all(rank, b.v), all(rank, b.o), std::nullopt};
  if (!lse_.empty()) attend.lse = all(rank, lse(rank));
  return add(rank, Phase::forward, attend);
}

OpIndex HandMade::attend_backward_locally(RankId rank) {
  const RankBoundary& b = boundary(rank);
  AttendBackward attend{all(rank, b.q),   all(rank, b.k),   all(rank, b.v),   std::nullopt,    std::nullopt,
                        all(rank, b.d_o), all(rank, b.d_q), all(rank, b.d_k), all(rank, b.d_v)};
  if (!lse_.empty()) attend.o = all(rank, b.o), attend.lse = all(rank, lse(rank));
  return add(rank, Phase::backward, attend);
}

Schedule local_attention() {
  HandMade made(shape_of(AttentionKind::softmax, 4, 2), DocumentMask({0, 3, 8}), {{{0, 8}}});
  made.attend_locally(0);
  made.attend_backward_locally(0);
  return made.schedule;
}

Schedule two_rank_ring() {
  const TokenSet first{{0, 4}};
  const TokenSet second{{4, 8}};
  HandMade made(shape_of(AttentionKind::softmax, 2, 1), DocumentMask({0, 2, 8}), {first, second});
  const HeadRange kv = made.kv_heads();

  for (const RankId rank : {0u, 1u}) {
    const RankBoundary& b = made.boundary(rank);
    const RankId peer = 1 - rank;
    const TokenSet& other = rank == 0 ? second : first;
    const BufferId k = made.add_buffer(rank, Role::k, other, kv, "k hop");
    const BufferId v = made.add_buffer(rank, Role::v, other, kv, "v hop");
    const OpIndex hop = made.add(
        rank, Phase::forward,
        Exchange{{{peer, {made.all(rank, b.k), made.all(rank, b.v)}}}, {{peer, {made.all(rank, k), made.all(rank, v)}}}});
    made.attend_locally(rank);
    made.attend_backward_locally(rank);
    if (rank == 0) continue;

    const BufferId o = made.add_buffer(rank, Role::o, second, made.query_heads(), "o hop");
    const BufferId lse = made.add_buffer(rank, Role::lse, second, made.query_heads(), "lse hop");
    made.add(rank, Phase::forward,
             Attend{made.all(rank, b.q), made.all(rank, k), made.all(rank, v), made.all(rank, o), made.all(rank, lse)}, {hop},
             1);
    made.add(rank, Phase::forward,
             Merge{made.all(rank, o), made.all(rank, lse), made.all(rank, b.o), made.all(rank, made.lse(rank))}, {}, 1);

    const BufferId d_q = made.add_buffer(rank, Role::d_q, second, made.query_heads(), "d_q hop");
    const BufferId d_k = made.add_buffer(rank, Role::d_k, first, kv, "d_k hop");
    const BufferId d_v = made.add_buffer(rank, Role::d_v, first, kv, "d_v hop");
    auto& buffers = made.schedule.ranks[rank].buffers;
    buffers[d_k].dtype = buffers[d_v].dtype = DType::fp32;
    const OpIndex attend = made.add(rank, Phase::backward,
                                    AttendBackward{made.all(rank, b.q), made.all(rank, k), made.all(rank, v),
                                                   made.all(rank, b.o), made.all(rank, made.lse(rank)), made.all(rank, b.d_o),
                                                   made.all(rank, d_q), made.all(rank, d_k), made.all(rank, d_v)},
                                    {}, 1);
    made.add(rank, Phase::backward, Accumulate{{{made.all(rank, d_q), made.all(rank, b.d_q)}}}, {}, 1);
    made.add(rank, Phase::backward, Exchange{{{peer, {made.all(rank, d_k), made.all(rank, d_v)}}}, {}}, {attend}, 1);
  }

  const BufferId d_k = made.add_buffer(0, Role::d_k, first, kv, "d_k home");
  const BufferId d_v = made.add_buffer(0, Role::d_v, first, kv, "d_v home");
  auto& buffers = made.schedule.ranks[0].buffers;
  buffers[d_k].dtype = buffers[d_v].dtype = DType::fp32;
  const OpIndex home = made.add(0, Phase::backward, Exchange{{}, {{1, {made.all(0, d_k), made.all(0, d_v)}}}}, {}, 1);
  made.add(0, Phase::backward,
           Accumulate{
               {{made.all(0, d_k), made.all(0, made.boundary(0).d_k)}, {made.all(0, d_v), made.all(0, made.boundary(0).d_v)}}},
           {home}, 1);
  return made.schedule;
}

Schedule two_rank_ulysses() {
  const TokenSet everything{{0, 8}};
  const TokenSet shards[] = {{{0, 4}}, {{4, 8}}};
  HandMade made(shape_of(AttentionKind::softmax, 2, 1), DocumentMask({0, 2, 8}), {shards[0], shards[1]});
  made.schedule.degrees = {2, 1};
  const HeadRange kv = made.kv_heads();

  for (const RankId rank : {0u, 1u}) {
    const RankId peer = 1 - rank;
    const TokenSet& own = shards[rank];
    const TokenSet& other = shards[peer];
    const RankBoundary b = made.boundary(rank);
    const HeadRange mine{static_cast<int>(rank), static_cast<int>(rank) + 1};
    const HeadRange theirs{static_cast<int>(peer), static_cast<int>(peer) + 1};
    const auto gathered = [&](Role role, HeadRange heads) {
      return made.add_buffer(rank, role, everything, heads, to_string(role) + " of my head");
    };
    const BufferId q = gathered(Role::q, mine), k = gathered(Role::k, kv), v = gathered(Role::v, kv);
    const BufferId o = gathered(Role::o, mine), lse = gathered(Role::lse, mine);
    const BufferId d_o = gathered(Role::d_o, mine), d_q = gathered(Role::d_q, mine);
    const BufferId d_k = gathered(Role::d_k, kv), d_v = gathered(Role::d_v, kv);
    const auto all = [&](BufferId buffer) { return made.all(rank, buffer); };

    const OpIndex scatter =
        made.add(rank, Phase::forward,
                 Exchange{{{peer, {made.part(b.q, own, theirs), all(b.k), all(b.v)}}},
                          {{peer, {made.rows(rank, q, other), made.rows(rank, k, other), made.rows(rank, v, other)}}}});
    made.add(rank, Phase::forward,
             Copy{{{made.part(b.q, own, mine), made.rows(rank, q, own)},
                   {all(b.k), made.rows(rank, k, own)},
                   {all(b.v), made.rows(rank, v, own)}}});
    const OpIndex attend = made.add(rank, Phase::forward, Attend{all(q), all(k), all(v), all(o), all(lse)}, {scatter});
    made.add(rank, Phase::forward, Exchange{{{peer, {made.rows(rank, o, other)}}}, {{peer, {made.part(b.o, own, theirs)}}}},
             {attend}, 1);
    made.add(rank, Phase::forward, Copy{{{made.rows(rank, o, own), made.part(b.o, own, mine)}}}, {}, 1);

    const OpIndex gather = made.add(
        rank, Phase::backward, Exchange{{{peer, {made.part(b.d_o, own, theirs)}}}, {{peer, {made.rows(rank, d_o, other)}}}});
    made.add(rank, Phase::backward, Copy{{{made.part(b.d_o, own, mine), made.rows(rank, d_o, own)}}});
    const OpIndex backward =
        made.add(rank, Phase::backward,
                 AttendBackward{all(q), all(k), all(v), all(o), all(lse), all(d_o), all(d_q), all(d_k), all(d_v)}, {gather});
    // The peer's part of dK and dV of my keys is added to mine, because the one kv head serves both query heads.
    const BufferId d_k_home = made.add_buffer(rank, Role::d_k, own, kv, "d_k home");
    const BufferId d_v_home = made.add_buffer(rank, Role::d_v, own, kv, "d_v home");
    const OpIndex home =
        made.add(rank, Phase::backward,
                 Exchange{{{peer, {made.rows(rank, d_q, other), made.rows(rank, d_k, other), made.rows(rank, d_v, other)}}},
                          {{peer, {made.part(b.d_q, own, theirs), all(d_k_home), all(d_v_home)}}}},
                 {backward}, 1);
    made.add(rank, Phase::backward,
             Copy{{{made.rows(rank, d_q, own), made.part(b.d_q, own, mine)},
                   {made.rows(rank, d_k, own), all(b.d_k)},
                   {made.rows(rank, d_v, own), all(b.d_v)}}},
             {}, 1);
    made.add(rank, Phase::backward, Accumulate{{{all(d_k_home), all(b.d_k)}, {all(d_v_home), all(b.d_v)}}}, {home}, 1);
  }
  return made.schedule;
}

Schedule two_rank_state_hop() {
  const TokenSet first{{0, 4}};
  const TokenSet second{{4, 8}};
  const TokenSet head{{2, 4}};  // the part of document [2, 6) that rank 0 holds, and rank 1's part
  const TokenSet tail{{4, 6}};
  HandMade made(shape_of(AttentionKind::linear, 2, 1), DocumentMask({0, 2, 6, 8}), {first, second});
  const HeadRange kv = made.kv_heads();
  const RankBoundary& b0 = made.boundary(0);
  const RankBoundary& b1 = made.boundary(1);
  const BufferId state0 = made.add_buffer(0, Role::state, head, kv, "state");
  const BufferId state1 = made.add_buffer(1, Role::state, head, kv, "state hop");
  const BufferId d_state1 = made.add_buffer(1, Role::d_state, tail, kv, "d_state");
  const BufferId d_state0 = made.add_buffer(0, Role::d_state, tail, kv, "d_state hop");
  const BufferId o = made.add_buffer(1, Role::o, tail, made.query_heads(), "o of state");
  const BufferId d_q = made.add_buffer(1, Role::d_q, tail, made.query_heads(), "d_q of state");
  const BufferId d_k = made.add_buffer(0, Role::d_k, head, kv, "d_k of state");
  const BufferId d_v = made.add_buffer(0, Role::d_v, head, kv, "d_v of state");

  const OpIndex summed = made.add(
      0, Phase::forward, StateUpdate{made.rows(0, b0.k, head), made.rows(0, b0.v, head), std::nullopt, made.all(0, state0)});
  made.add(0, Phase::forward, Exchange{{{1, {made.all(0, state0)}}}, {}}, {summed});
  made.attend_locally(0);

  made.attend_locally(1);
  const OpIndex hop = made.add(1, Phase::forward, Exchange{{}, {{0, {made.all(1, state1)}}}});
  made.add(1, Phase::forward, StateApply{made.rows(1, b1.q, tail), made.all(1, state1), made.all(1, o), false}, {hop});
  made.add(1, Phase::forward, Accumulate{{{made.all(1, o), made.rows(1, b1.o, tail)}}});

  const OpIndex d_summed =
      made.add(1, Phase::backward,
               StateUpdate{made.rows(1, b1.q, tail), made.rows(1, b1.d_o, tail), std::nullopt, made.all(1, d_state1)});
  made.add(1, Phase::backward, Exchange{{{0, {made.all(1, d_state1)}}}, {}}, {d_summed});
  made.attend_backward_locally(1);
  made.add(1, Phase::backward, StateApply{made.rows(1, b1.d_o, tail), made.all(1, state1), made.all(1, d_q), true});
  made.add(1, Phase::backward, Accumulate{{{made.all(1, d_q), made.rows(1, b1.d_q, tail)}}});

  made.attend_backward_locally(0);
  const OpIndex d_hop = made.add(0, Phase::backward, Exchange{{}, {{1, {made.all(0, d_state0)}}}});
  made.add(0, Phase::backward, StateApply{made.rows(0, b0.k, head), made.all(0, d_state0), made.all(0, d_v), false}, {d_hop});
  made.add(0, Phase::backward, StateApply{made.rows(0, b0.v, head), made.all(0, d_state0), made.all(0, d_k), true});
  made.add(0, Phase::backward,
           Accumulate{{{made.all(0, d_k), made.rows(0, b0.d_k, head)}, {made.all(0, d_v), made.rows(0, b0.d_v, head)}}});
  return made.schedule;
}

namespace {

/// One phase of one rank of three_rank_state_sum(): sends what its rows sum up to the ranks that `states` flow to, and returns
/// the sum of what came from the others (nullopt at the end of the document) with the op to wait for.
std::optional<std::pair<Slice, OpIndex>> exchange_states(HandMade& made, RankId rank, Phase phase) {
  const bool forward = phase == Phase::forward;
  const Role role = forward ? Role::state : Role::d_state;
  const RankBoundary& b = made.boundary(rank);
  const auto state_of = [&](RankId first, RankId end, const std::string& name) {
    return made.all(rank, made.add_buffer(rank, role, TokenSet{{2 * first, 2 * end}}, made.kv_heads(), name));
  };
  Exchange exchange;
  OpList summed;
  if (forward ? rank < 2 : rank > 0) {
    const Slice own = state_of(rank, rank + 1, "own");
    summed.push_back(
        made.add(rank, phase,
                 StateUpdate{made.all(rank, forward ? b.k : b.q), made.all(rank, forward ? b.v : b.d_o), std::nullopt, own}));
    for (RankId peer = 0; peer < 3; ++peer)
      if (forward ? peer > rank : peer < rank) exchange.sends.push_back({peer, {own}});
  }
  std::vector<Slice> came;
  for (RankId peer = 0; peer < 3; ++peer)
    if (forward ? peer < rank : peer > rank) {
      came.push_back(state_of(peer, peer + 1, "of rank " + std::to_string(peer)));
      exchange.recvs.push_back({peer, {came.back()}});
    }
  const OpIndex hop = made.add(rank, phase, exchange, summed);
  if (came.empty()) return std::nullopt;
  if (came.size() == 1) return std::pair{came.front(), hop};
  const Slice sum = forward ? state_of(0, rank, "before") : state_of(rank + 1, 3, "after");
  return std::pair{sum, made.add(rank, phase, StateSum{came, sum}, {hop})};
}

}  // namespace

Schedule three_rank_state_sum() {
  AttentionShape shape = shape_of(AttentionKind::linear, 2, 1);
  shape.decay = 1;
  const TokenSet shards[] = {{{0, 2}}, {{2, 4}}, {{4, 6}}};
  HandMade made(shape, DocumentMask({0, 6}), {shards[0], shards[1], shards[2]});
  for (const RankId rank : {0u, 1u, 2u}) {
    const RankBoundary b = made.boundary(rank);
    const auto add_product = [&](Phase phase, BufferId x, const Slice& state, bool transposed, Role role, BufferId into,
                                 OpList after) {
      const HeadRange heads = has_query_heads(role) ? made.query_heads() : made.kv_heads();
      const Slice part = made.all(rank, made.add_buffer(rank, role, shards[rank], heads, to_string(role) + " of state"));
      made.add(rank, phase, StateApply{made.all(rank, x), state, part, transposed}, std::move(after));
      made.add(rank, phase, Accumulate{{{part, made.all(rank, into)}}});
    };
    const auto before = exchange_states(made, rank, Phase::forward);
    made.attend_locally(rank);
    if (before) add_product(Phase::forward, b.q, before->first, false, Role::o, b.o, {before->second});

    const auto after = exchange_states(made, rank, Phase::backward);
    made.attend_backward_locally(rank);
    if (before) add_product(Phase::backward, b.d_o, before->first, true, Role::d_q, b.d_q, {});
    if (!after) continue;
    add_product(Phase::backward, b.v, after->first, true, Role::d_k, b.d_k, {after->second});
    add_product(Phase::backward, b.k, after->first, false, Role::d_v, b.d_v, {after->second});
  }
  return made.schedule;
}

}  // namespace hsap::test
