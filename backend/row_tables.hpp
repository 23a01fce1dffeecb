// Turns the slices of a Schedule into places in memory: which rows of its buffer a slice is. One table per (buffer's tokens,
// slice's tokens), shared by all ranks and kept for the whole run, so that views may be handed from one rank's thread to
// another's.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "backend/slice_view.hpp"
#include "planner/ir/schedule.hpp"

namespace hsap {

class RowTables {
 public:
  /// Throws InvalidInput naming rank, phase and op when a slice names a buffer, tokens or heads that are not there.
  explicit RowTables(const Schedule& schedule);

  /// The slice of a buffer whose memory begins at `memory`.
  SliceView view(RankId rank, const Slice& slice, float* memory) const;

 private:
  void add(RankId rank, Phase phase, const Op& op);
  void add(const RankProgram& program, const Slice& slice);
  const Schedule& schedule_;
  std::map<std::pair<TokenSetId, TokenSetId>, std::vector<Index>> rows_;  // [buffer's tokens, slice's tokens]
  std::vector<Index> state_row_{0};
};

/// Elements of a buffer: rows x heads x width.
std::size_t elements_of(const Schedule& schedule, const Buffer& buffer);

/// "rank 1, forward op 3 (exchange)"
std::string place_of(RankId rank, Phase phase, const Op& op);

}  // namespace hsap
