#include "backend/row_tables.hpp"

#include <algorithm>
#include <string>

#include "planner/ir/errors.hpp"

namespace hsap {

namespace {

std::string heads_text(const HeadRange& heads) { return std::to_string(heads.begin) + ".." + std::to_string(heads.end); }

}  // namespace

RowTables::RowTables(const Schedule& schedule) : schedule_(schedule) {
  for (RankId rank = 0; rank < schedule.ranks.size(); ++rank)
    for (const Phase phase : {Phase::forward, Phase::backward})
      for (const Op& op : ops_of(schedule.ranks[rank], phase)) add(rank, phase, op);
}

void RowTables::add(RankId rank, Phase phase, const Op& op) {
  const auto add_slice = [&](const Slice& slice) { add(schedule_.ranks[rank], slice); };
  try {
    for_each_read(op.body, add_slice);
    for_each_write(op.body, add_slice);
  } catch (const InvalidInput& error) {
    throw InvalidInput(place_of(rank, phase, op) + ": " + error.what());
  }
}

void RowTables::add(const RankProgram& program, const Slice& slice) {
  const PooledList<Buffer>& buffers = program.buffers;
  if (slice.buffer >= buffers.size())
    throw InvalidInput("names buffer " + std::to_string(slice.buffer) + ", expected one below " +
                       std::to_string(buffers.size()));
  const Buffer& buffer = buffers[slice.buffer];
  if (slice.tokens >= schedule_.token_sets.size() || buffer.tokens >= schedule_.token_sets.size())
    throw InvalidInput("buffer \"" + buffer.name.text() + "\": names token set " +
                       std::to_string(std::max(slice.tokens, buffer.tokens)) + ", expected one below " +
                       std::to_string(schedule_.token_sets.size()));
  if (slice.heads.begin < buffer.heads.begin || slice.heads.end > buffer.heads.end || slice.heads.size() < 0)
    throw InvalidInput("buffer \"" + buffer.name.text() + "\": names heads " + heads_text(slice.heads) +
                       ", expected heads within " + heads_text(buffer.heads));

  const TokenSet& held = schedule_.tokens(buffer.tokens);
  const TokenSet& wanted = schedule_.tokens(slice.tokens);
  if (is_state(buffer.role) ? slice.tokens != buffer.tokens : !held.contains(wanted))
    throw InvalidInput("buffer \"" + buffer.name.text() + "\": names tokens that the buffer does not hold");
  if (is_state(buffer.role)) return;
  const auto [entry, is_new] = rows_.try_emplace({buffer.tokens, slice.tokens});
  if (!is_new) return;
  entry->second.reserve(static_cast<std::size_t>(wanted.size()));
  for (const TokenRange& range : wanted.ranges()) {
    const Token first = held.row_of(range.begin);
    for (Token i = 0; i < range.size(); ++i) entry->second.push_back(first + i);
  }
}

SliceView RowTables::view(RankId rank, const Slice& slice, float* memory) const {
  const Buffer& buffer = schedule_.buffer(rank, slice.buffer);
  const int width = width_of(buffer.role, schedule_.shape);
  const std::vector<Index>& rows = is_state(buffer.role) ? state_row_ : rows_.at({buffer.tokens, slice.tokens});
  return {.data = memory + Index{slice.heads.begin - buffer.heads.begin} * width,
          .rows = rows.data(),
          .row_count = static_cast<Index>(rows.size()),
          .row_stride = Index{buffer.heads.size()} * width,
          .heads = slice.heads.size(),
          .width = width};
}

std::size_t elements_of(const Schedule& schedule, const Buffer& buffer) {
  const Token rows = is_state(buffer.role) ? 1 : schedule.tokens(buffer.tokens).size();
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(buffer.heads.size()) *
         static_cast<std::size_t>(width_of(buffer.role, schedule.shape));
}

std::string place_of(RankId rank, Phase phase, const Op& op) {
  return "rank " + std::to_string(rank) + ", " + to_string(phase) + " op " + std::to_string(op.id) + " (" + kind_name(op.body) +
         ")";
}

}  // namespace hsap
