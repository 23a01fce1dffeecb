#include "planner/ir/memory.hpp"

#include <algorithm>
#include <initializer_list>
#include <utility>
#include <vector>

#include "planner/ir/work.hpp"

namespace hsap {

namespace {

/// How the ops of one phase use one buffer.
struct Use {
  bool touched = false;
  std::size_t first = 0, last = 0;  // ops, in issue order
  bool read = false;
  double bytes_written_before_read = 0;
};

std::vector<Use> uses_of(const Schedule& schedule, RankId rank, Phase phase) {
  const RankProgram& program = schedule.ranks[rank];
  std::vector<Use> uses(program.buffers.size());
  for (std::size_t i = 0; i < ops_of(program, phase).size(); ++i) {
    const OpBody& body = ops_of(program, phase)[i].body;
    const auto touch = [&](const Slice& slice) -> Use& {
      Use& use = uses[slice.buffer];
      if (!use.touched) use.first = i;
      use.touched = true;
      use.last = i;
      return use;
    };
    for_each_read(body, [&](const Slice& slice) { touch(slice).read = true; });
    for_each_write(body, [&](const Slice& slice) {
      Use& use = touch(slice);
      if (!use.read) use.bytes_written_before_read += bytes_of(schedule, rank, slice);
    });
  }
  return uses;
}

/// Ops [begin, end) of forward and backward, counted as one list.
struct Life {
  std::size_t begin = 0, end = 0;
};

}  // namespace

MemoryUse memory_of(const Schedule& schedule, RankId rank) {
  const RankProgram& program = schedule.ranks[rank];
  // A phase without ops still holds its inputs and results, so it counts as one.
  const std::size_t backward_begin = std::max<std::size_t>(1, program.forward.size());
  const std::size_t end = backward_begin + std::max<std::size_t>(1, program.backward.size());
  const std::vector<Use> forward = uses_of(schedule, rank, Phase::forward);
  const std::vector<Use> backward = uses_of(schedule, rank, Phase::backward);
  const RankBoundary& boundary = program.boundary;
  const auto is_one_of = [](BufferId buffer, std::initializer_list<BufferId> list) {
    return std::find(list.begin(), list.end(), buffer) != list.end();
  };

  MemoryUse result;
  std::vector<double> bytes(program.buffers.size());
  std::vector<Life> lives(program.buffers.size());
  std::vector<double> change(end + 1, 0.0);  // bytes that come to life before each op, minus those that die
  for (BufferId id = 0; id < program.buffers.size(); ++id) {
    bytes[id] = bytes_of(schedule, rank, program.buffers[id]);
    const Use& ahead = forward[id];
    const Use& back = backward[id];
    const bool is_input = is_one_of(id, {boundary.q, boundary.k, boundary.v});
    // Backward uses what forward left there, unless it fills the whole buffer before it first reads it. An input that nobody
    // uses cannot be freed by us.
    const bool is_saved =
        is_input ? back.read || !ahead.touched : ahead.touched && back.read && back.bytes_written_before_read < bytes[id];
    if (is_saved) result.saved_bytes += bytes[id];

    const std::size_t first = ahead.touched ? ahead.first : backward_begin + back.first;
    const std::size_t last = back.touched ? backward_begin + back.last + 1 : ahead.last + 1;
    Life& life = lives[id];
    if (is_input)
      life = {0, !is_saved ? ahead.last + 1 : back.touched ? last : end};
    else if (id == boundary.o)
      life = {ahead.touched ? first : 0, is_saved ? last : backward_begin};
    else if (id == boundary.d_o)
      life = {backward_begin, back.touched ? last : end};
    else if (is_one_of(id, {boundary.d_q, boundary.d_k, boundary.d_v}))
      life = {back.touched ? backward_begin + back.first : backward_begin, end};
    else if (ahead.touched || back.touched)
      life = {first, last};
    change[life.begin] += bytes[id];
    change[life.end] -= bytes[id];
  }

  double alive = 0;
  std::size_t peak = 0;
  for (std::size_t op = 0; op < end; ++op) {
    alive += change[op];
    if (op > 0 && alive <= result.peak_bytes) continue;
    result.peak_bytes = alive;
    peak = op;
  }
  result.peak_phase = peak < backward_begin ? Phase::forward : Phase::backward;
  for (BufferId id = 0; id < program.buffers.size(); ++id)
    if (lives[id].begin <= peak && peak < lives[id].end &&
        (result.largest_term.empty() || bytes[id] > result.largest_term_bytes)) {
      result.largest_term = program.buffers[id].name;
      result.largest_term_bytes = bytes[id];
    }
  return result;
}

MemoryUse peak_memory(const Schedule& schedule) {
  MemoryUse most;
  for (RankId rank = 0; rank < schedule.ranks.size(); ++rank) {
    MemoryUse use = memory_of(schedule, rank);
    if (rank == 0 || use.peak_bytes > most.peak_bytes) most = std::move(use);
  }
  return most;
}

}  // namespace hsap
