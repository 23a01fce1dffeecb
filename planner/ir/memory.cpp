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

/// Every buffer of a rank.
struct Lives {
  std::vector<double> bytes;
  std::vector<Life> lives;
  std::vector<bool> saved;
  std::size_t backward_begin = 0;  ///< its first op
  std::size_t end = 0;             ///< number of ops
};

Lives lives_of(const Schedule& schedule, RankId rank) {
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

  const std::size_t buffers = program.buffers.size();
  Lives result{std::vector<double>(buffers), std::vector<Life>(buffers), std::vector<bool>(buffers), backward_begin, end};
  for (BufferId id = 0; id < program.buffers.size(); ++id) {
    const double bytes = result.bytes[id] = bytes_of(schedule, rank, program.buffers[id]);
    const Use& ahead = forward[id];
    const Use& back = backward[id];
    const bool is_input = is_one_of(id, {boundary.q, boundary.k, boundary.v});
    // Backward uses what forward left there, unless it fills the whole buffer before it first reads it. An input that nobody
    // uses cannot be freed by us.
    const bool is_saved =
        is_input ? back.read || !ahead.touched : ahead.touched && back.read && back.bytes_written_before_read < bytes;
    result.saved[id] = is_saved;

    const std::size_t first = ahead.touched ? ahead.first : backward_begin + back.first;
    const std::size_t last = back.touched ? backward_begin + back.last + 1 : ahead.last + 1;
    Life& life = result.lives[id];
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
  }
  return result;
}

/// The op at which most is alive, and how much: the first such op.
struct Peak {
  std::size_t op = 0;
  double bytes = 0;
};

Peak peak_of(const Lives& all) {
  std::vector<double> change(all.end + 1, 0.0);  // bytes that come to life before each op, minus those that die
  for (std::size_t id = 0; id < all.bytes.size(); ++id) {
    change[all.lives[id].begin] += all.bytes[id];
    change[all.lives[id].end] -= all.bytes[id];
  }
  Peak peak{0, change[0]};
  double alive = change[0];
  for (std::size_t op = 1; op < all.end; ++op) {
    alive += change[op];
    if (alive > peak.bytes) peak = {op, alive};
  }
  return peak;
}

/// Which buffers of the rank an Exchange writes, but for inputs and results of the layer.
std::vector<bool> received_buffers(const RankProgram& program) {
  std::vector<bool> received(program.buffers.size(), false);
  for (const Phase phase : {Phase::forward, Phase::backward})
    for (const Op& op : ops_of(program, phase))
      if (const auto* exchange = std::get_if<Exchange>(&op.body))
        for (const Message& message : exchange->recvs)
          for (const Slice& part : message.parts) received[part.buffer] = true;
  const RankBoundary& b = program.boundary;
  for (const BufferId id : {b.q, b.k, b.v, b.o, b.d_o, b.d_q, b.d_k, b.d_v}) received[id] = false;
  return received;
}

bool alive_at(const Life& life, std::size_t op) { return life.begin <= op && op < life.end; }

}  // namespace

MemoryUse memory_of(const Schedule& schedule, RankId rank) {
  const Lives all = lives_of(schedule, rank);
  const Peak peak = peak_of(all);
  MemoryUse result;
  result.peak_bytes = peak.bytes;
  result.peak_phase = peak.op < all.backward_begin ? Phase::forward : Phase::backward;
  for (BufferId id = 0; id < all.bytes.size(); ++id) {
    if (all.saved[id]) result.saved_bytes += all.bytes[id];
    if (!alive_at(all.lives[id], peak.op)) continue;
    if (!result.largest_term.empty() && all.bytes[id] <= result.largest_term_bytes) continue;
    result.largest_term = schedule.buffer(rank, id).name.text();
    result.largest_term_bytes = all.bytes[id];
  }
  return result;
}

std::vector<MemoryTerm> terms_at_peak(const Schedule& schedule, RankId rank) {
  const Lives all = lives_of(schedule, rank);
  const Peak peak = peak_of(all);
  std::vector<MemoryTerm> terms;
  for (BufferId id = 0; id < all.bytes.size(); ++id)
    if (alive_at(all.lives[id], peak.op) && all.bytes[id] > 0) terms.push_back({id, all.bytes[id], all.saved[id]});
  std::stable_sort(terms.begin(), terms.end(), [](const MemoryTerm& a, const MemoryTerm& b) { return a.bytes > b.bytes; });
  return terms;
}

MemoryUse peak_memory(const Schedule& schedule) {
  MemoryUse most;
  for (RankId rank = 0; rank < schedule.ranks.size(); ++rank) {
    MemoryUse use = memory_of(schedule, rank);
    if (rank == 0 || use.peak_bytes > most.peak_bytes) most = std::move(use);
  }
  return most;
}

double communication_buffer_bytes(const Schedule& schedule) {
  double most = 0;
  for (RankId rank = 0; rank < schedule.ranks.size(); ++rank) {
    Lives lives = lives_of(schedule, rank);
    const std::vector<bool> received = received_buffers(schedule.ranks[rank]);
    for (std::size_t id = 0; id < received.size(); ++id)
      if (!received[id]) lives.bytes[id] = 0;
    most = std::max(most, peak_of(lives).bytes);
  }
  return most;
}

}  // namespace hsap
