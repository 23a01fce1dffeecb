#include "backend/rank_memory.hpp"

#include <algorithm>

#include "backend/row_tables.hpp"

namespace hsap {

std::vector<BufferId> buffers_of(const OpBody& body) {
  std::vector<BufferId> ids;
  const auto add = [&](const Slice& slice) { ids.push_back(slice.buffer); };
  for_each_read(body, add);
  for_each_write(body, add);
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

RankMemory::RankMemory(const Schedule& schedule, RankId rank, Device& device)
    : schedule_(schedule), rank_(rank), device_(device), buffers_(schedule.ranks[rank].buffers.size()) {
  const RankProgram& program = schedule.ranks[rank];
  for (const Phase phase : {Phase::forward, Phase::backward})
    for (const Op& op : ops_of(program, phase))
      for (const BufferId id : buffers_of(op.body)) ++buffers_[id].uses_left;
  const RankBoundary& boundary = program.boundary;
  for (const BufferId id :
       {boundary.q, boundary.k, boundary.v, boundary.d_o, boundary.o, boundary.d_q, boundary.d_k, boundary.d_v})
    ++buffers_[id].uses_left;
}

float* RankMemory::begin_use(BufferId id) {
  Place& place = buffers_[id];
  const std::lock_guard lock(place.mutex);
  if (!place.memory) place.memory = device_.allocate(elements_of(schedule_, schedule_.buffer(rank_, id)));
  return place.memory.get();
}

void RankMemory::end_use(BufferId id) {
  Place& place = buffers_[id];
  const std::lock_guard lock(place.mutex);
  if (--place.uses_left == 0) place.memory.reset();
}

}  // namespace hsap
