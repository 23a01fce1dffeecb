#include <catch2/catch.hpp>

#include "planner/ir/memory.hpp"
#include "tests/planner/hand_made.hpp"

using namespace hsap;
using namespace hsap::test;

namespace {

// Of the small schedules: 8 tokens, 4 query heads, 2 kv heads, widths 4, bf16; lse is fp32.
constexpr double kQ = 8 * 4 * 4 * 2;
constexpr double kK = 8 * 2 * 4 * 2;
constexpr double kLse = 8 * 4 * 4;

}  // namespace

TEST_CASE("memory: local attention holds inputs, results and what backward reads") {
  const MemoryUse use = memory_of(local_attention(), 0);
  // Saved: q, k, v, o, lse. Backward adds d_o, d_q, d_k, d_v.
  CHECK(use.saved_bytes == 2 * kQ + 2 * kK + kLse);
  CHECK(use.peak_bytes == 4 * kQ + 4 * kK + kLse);
  CHECK(use.peak_phase == Phase::backward);
  CHECK(use.largest_term == "q");
  CHECK(use.largest_term_bytes == kQ);
}

TEST_CASE("memory: the terms at the peak are the buffers alive there, largest first") {
  const Schedule schedule = local_attention();
  const RankBoundary& b = schedule.ranks[0].boundary;
  const std::vector<MemoryTerm> terms = terms_at_peak(schedule, 0);
  REQUIRE(terms.size() == 9);
  CHECK(terms[0].buffer == b.q);
  CHECK(terms[0].bytes == kQ);
  CHECK(terms[0].saved);
  CHECK(terms[2].buffer == b.d_o);
  CHECK_FALSE(terms[2].saved);
  CHECK(terms[8].bytes == kK);
}

TEST_CASE("memory: a rank without ops still holds its inputs and results") {
  Schedule schedule = local_attention();
  schedule.ranks[0].forward.clear();
  schedule.ranks[0].backward.clear();
  const MemoryUse use = memory_of(schedule, 0);
  CHECK(use.saved_bytes == kQ + 2 * kK);
  CHECK(use.peak_bytes == 3 * kQ + 4 * kK);  // q, k, v, d_o, d_q, d_k, d_v
}

TEST_CASE("memory: a buffer lives from its first write to its last use") {
  HandMade made(local_attention().shape, DocumentMask({0, 3, 8}), {{{0, 8}}});
  const TokenSet everything{{0, 8}};
  const RankBoundary b = made.boundary(0);
  // Two copies of q, one after the other: the first is dead before the second is made.
  for (const char* name : {"first copy", "second copy"}) {
    const BufferId copy = made.add_buffer(0, Role::q, everything, made.query_heads(), name);
    const BufferId o = made.add_buffer(0, Role::o, everything, made.query_heads(), "o");
    const BufferId lse = made.add_buffer(0, Role::lse, everything, made.query_heads(), "lse");
    made.add(0, Phase::forward, Copy{{{made.all(0, b.q), made.all(0, copy)}}});
    made.add(0, Phase::forward,
             Attend{made.all(0, copy), made.all(0, b.k), made.all(0, b.v), made.all(0, o), made.all(0, lse)});
  }
  const MemoryUse use = memory_of(made.schedule, 0);
  // At the first attend q is still to be copied again: q, k, v, o of the boundary, the copy, its o and lse.
  CHECK(use.peak_bytes == 4 * kQ + 2 * kK + kLse);
  CHECK(use.saved_bytes == 0);
}

TEST_CASE("memory: an input that only forward reads is freed after its last reader") {
  // Backward works on q, k, v, o by heads: 8 tokens x 1 head x 4 x 2 bytes each, and a lse of 8 x 1 x 4 bytes. The boundary's
  // are gone.
  CHECK(memory_of(two_rank_ulysses(), 0).saved_bytes == 4 * (8 * 4 * 2) + 8 * 4);
}

TEST_CASE("memory: a buffer that backward fills anew is not saved, one that it reads is") {
  HandMade made(local_attention().shape, DocumentMask({0, 3, 8}), {{{0, 8}}});
  const RankBoundary b = made.boundary(0);
  const BufferId scratch = made.add_buffer(0, Role::k, TokenSet{{0, 8}}, made.kv_heads(), "scratch");
  made.add(0, Phase::forward, Copy{{{made.all(0, b.k), made.all(0, scratch)}}});
  const BufferId use = made.add_buffer(0, Role::k, TokenSet{{0, 8}}, made.kv_heads(), "use");
  made.add(0, Phase::backward, Copy{{{made.all(0, b.k), made.all(0, scratch)}}});
  made.add(0, Phase::backward, Copy{{{made.all(0, scratch), made.all(0, use)}}});
  CHECK(memory_of(made.schedule, 0).saved_bytes == kQ + 2 * kK);  // q, k, v: backward reads k, nobody uses q and v
  made.schedule.ranks[0].backward.erase(made.schedule.ranks[0].backward.begin());
  CHECK(memory_of(made.schedule, 0).saved_bytes == kQ + 2 * kK);  // scratch instead of k
}

TEST_CASE("memory: peak_memory is the rank with the most") {
  const Schedule schedule = two_rank_ring();
  const MemoryUse most = peak_memory(schedule);
  CHECK(most.peak_bytes == memory_of(schedule, 1).peak_bytes);
  CHECK(most.peak_bytes > memory_of(schedule, 0).peak_bytes);
}

TEST_CASE("memory: communication buffers are what Exchanges write and is alive at once, results of the layer apart") {
  // Rank 1 keeps the keys and values of rank 0 for backward; rank 0 receives their gradients in fp32: 4 tokens, a head of 4.
  constexpr double kGradients = 2 * 4 * 4 * 4;
  CHECK(communication_buffer_bytes(two_rank_ring()) == kGradients);
  CHECK(communication_buffer_bytes(local_attention()) == 0);
  Schedule model_dtype = two_rank_ring();
  for (RankProgram& program : model_dtype.ranks)
    for (Buffer& buffer : program.buffers)
      if (buffer.name.text().ends_with(" home")) buffer.dtype = DType::bf16;
  CHECK(communication_buffer_bytes(model_dtype) == kGradients / 2);  // as much as the keys and values
}
