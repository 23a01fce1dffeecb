#include <catch2/catch.hpp>

#include "planner/ir/work.hpp"
#include "tests/planner/hand_made.hpp"

using namespace hsap;
using namespace hsap::test;

namespace {

const OpBody& forward_op(const Schedule& schedule, RankId rank, OpIndex op) { return schedule.ranks[rank].forward[op].body; }
const OpBody& backward_op(const Schedule& schedule, RankId rank, OpIndex op) { return schedule.ranks[rank].backward[op].body; }

}  // namespace

TEST_CASE("work: bytes of slices and buffers are rows x heads x width x element") {
  const Schedule schedule = local_attention();  // 8 tokens, 4 query heads, 2 kv heads, widths 4, bf16, lse fp32
  const Attend& attend = std::get<Attend>(forward_op(schedule, 0, 0));
  CHECK(bytes_of(schedule, 0, attend.q) == 8 * 4 * 4 * 2);
  CHECK(bytes_of(schedule, 0, attend.k) == 8 * 2 * 4 * 2);
  CHECK(bytes_of(schedule, 0, *attend.lse) == 8 * 4 * 1 * 4);
  CHECK(bytes_of(schedule, 0, schedule.buffer(0, attend.q.buffer)) == 8 * 4 * 4 * 2);
}

TEST_CASE("work: a state is one matrix per head, whatever its tokens") {
  const Schedule schedule = two_rank_state_hop();
  const StateUpdate& update = std::get<StateUpdate>(forward_op(schedule, 0, 0));
  CHECK(rows_of(schedule, 0, update.a) == 2);
  CHECK(rows_of(schedule, 0, update.state) == 1);
  CHECK(bytes_of(schedule, 0, update.state) == 1 * 1 * 16 * 4);
  CHECK(bytes_of(schedule, 0, schedule.buffer(0, update.state.buffer)) == 1 * 1 * 16 * 4);
}

TEST_CASE("work: flops count 2 per multiply-add, pair and query head") {
  const Schedule schedule = local_attention();  // documents of 3 and 5: 21 pairs
  const auto& attend = forward_op(schedule, 0, 0);
  CHECK(pairs_of(schedule, std::get<Attend>(attend)) == 21);
  CHECK(flops_of(schedule, 0, attend) == 2.0 * (4 + 4) * 21 * 4);
  CHECK(flops_of(schedule, 0, backward_op(schedule, 0, 0)) == 2.5 * flops_of(schedule, 0, attend));

  const Schedule states = two_rank_state_hop();
  CHECK(flops_of(states, 0, forward_op(states, 0, 0)) == 2.0 * 4 * 4 * 2 * 1);  // 2 rows, 1 kv head
  CHECK(flops_of(states, 1, forward_op(states, 1, 2)) == 2.0 * 4 * 4 * 2 * 2);  // 2 rows, 2 query heads
  CHECK(flops_of(states, 0, forward_op(states, 0, 1)) == 0);                    // exchange
  CHECK(flops_of(states, 1, forward_op(states, 1, 3)) == 0);                    // accumulate
  const Schedule sums = three_rank_state_sum();
  CHECK(flops_of(sums, 2, forward_op(sums, 2, 1)) == 0);  // state sum
}

TEST_CASE("work: memory traffic counts what is read and what is written") {
  const Schedule schedule = two_rank_ring();
  const double o = 4 * 2 * 4 * 2;
  const double lse = 4 * 2 * 4;
  // Merge reads both partial results and writes one of them.
  CHECK(memory_traffic_of(schedule, 1, forward_op(schedule, 1, 3)) == 3 * (o + lse));
  // Accumulate reads two and writes one.
  CHECK(memory_traffic_of(schedule, 1, backward_op(schedule, 1, 2)) == 3 * o);
  // StateSum reads two states and writes one.
  const Schedule sums = three_rank_state_sum();
  CHECK(memory_traffic_of(sums, 2, forward_op(sums, 2, 1)) == 3 * (4 * 4 * 4));
  // Attend names q, k, v, o and lse once each; one kv head.
  CHECK(memory_traffic_of(schedule, 1, forward_op(schedule, 1, 2)) == 2 * o + 2 * (4 * 1 * 4 * 2) + lse);
}

TEST_CASE("work: bytes sent sum the messages of each rank") {
  const Schedule schedule = two_rank_ring();
  const double kv = 2 * 4 * 1 * 4 * 2;  // K and V of 4 tokens, 1 head, width 4, bf16
  CHECK(bytes_sent_by_rank(schedule, Phase::forward) == std::vector<double>{kv, kv});
  // dK and dV come home in fp32, from rank 1 only.
  CHECK(bytes_sent_by_rank(schedule, Phase::backward) == std::vector<double>{0, 2 * kv});
}

TEST_CASE("work: linear attention costs its pairs while documents are short, its chunks when they are long") {
  AttentionShape shape;
  shape.kind = AttentionKind::linear;
  shape.query_heads = shape.kv_heads = 1;
  shape.qk_dim = shape.v_dim = 4;
  const auto flops_of_one_document = [&](Token length) {
    HandMade made(shape, DocumentMask({0, length}), {{{0, length}}});
    made.attend_locally(0);
    made.attend_backward_locally(0);
    CHECK(flops_of(made.schedule, 0, backward_op(made.schedule, 0, 0)) ==
          2.5 * flops_of(made.schedule, 0, forward_op(made.schedule, 0, 0)));
    return flops_of(made.schedule, 0, forward_op(made.schedule, 0, 0));
  };
  CHECK(flops_of_one_document(4) == 2.0 * (4 + 4) * 10);
  CHECK(flops_of_one_document(100'000) == 100'000.0 * (128 * (4 + 4) + 4 * 4 * 4));
}

TEST_CASE("work: no schedule spends less than least_flops") {
  for (const Schedule& schedule :
       {local_attention(), two_rank_ring(), two_rank_ulysses(), two_rank_state_hop(), three_rank_state_sum()})
    for (const Phase phase : {Phase::forward, Phase::backward}) {
      double spent = 0;
      for (RankId rank = 0; rank < schedule.ranks.size(); ++rank)
        for (const Op& op : ops_of(schedule.ranks[rank], phase)) spent += flops_of(schedule, rank, op.body);
      CHECK(least_flops(schedule.shape, schedule.mask, phase) <= spent);
    }
  const Schedule local = local_attention();
  CHECK(least_flops(local.shape, local.mask, Phase::forward) == 2.0 * (4 + 4) * 21 * 4);
}
