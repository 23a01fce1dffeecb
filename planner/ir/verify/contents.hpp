// What the buffers of one rank hold while its program is interpreted symbolically, and who wrote and read it.
//
// A program is free of races when every two accesses to the same rows and heads, one of them a write, are ordered by the rank's
// own streams and `after`. Then every execution gives the same values as the one order in which the interpreter happens to run
// the ops; so each access checks its order against those that were interpreted before it.
#pragma once

#include <string>
#include <vector>

#include "planner/ir/schedule.hpp"
#include "planner/ir/verify/happens_before.hpp"
#include "planner/ir/verify/place.hpp"
#include "planner/ir/verify/token_algebra.hpp"
#include "planner/ir/verify/values.hpp"

namespace hsap::proof {

/// Rows x heads of a buffer that hold one value.
struct Piece {
  TokenSetId rows = 0;
  HeadRange heads;
  ValueId value = kInput;
};

class RankContents {
 public:
  RankContents(const Schedule& schedule, RankId rank, TokenAlgebra& sets, Values& values);

  /// Brings in the inputs of the phase. What happened before is ordered before everything in it. `order` must outlive the
  /// phase.
  void begin(Phase phase, const HappensBefore& order);

  /// `op` reads the slice; appends its pieces to `pieces` if given. Throws InvalidInput when a row is not written by then.
  void read(const Op& op, const Slice& slice, std::vector<Piece>* pieces = nullptr);
  /// The same without reading: for the target of an op that adds to it.
  std::vector<Piece> look(const Slice& slice) const;
  /// `op` replaces rows x heads of a buffer. `passing`: nobody need read it (a block that a ring hands on).
  /// Throws InvalidInput when an earlier value is unread or may still be in use.
  void write(const Op& op, BufferId buffer, const Piece& piece, bool passing = false);
  /// `op` adds `terms`, which tile the slice, to what is there. Throws InvalidInput when a row is not written by then.
  void add(const Op& op, const Slice& slice, const std::vector<Piece>& terms);

  /// Everything a buffer holds.
  std::vector<Piece> pieces_of(BufferId buffer) const;
  /// Throws InvalidInput when something was computed that nobody read and that is no result.
  void check_all_was_read() const;

 private:
  struct Writer {
    Phase phase = Phase::forward;
    OpIndex op = 0;
    bool in_this_phase = false;  // else it is ordered before everything
  };
  struct Entry {
    Piece piece;
    Writer writer;
    Clock readers{};  // per stream, 1 + the latest op of this phase that read it
    bool read = false;
    bool passing = false;
  };

  /// Cuts entry `i` so that it lies inside rows x heads; what lies outside goes to the end of the list. False: nothing in
  /// common.
  bool cut(std::vector<Entry>& entries, std::size_t i, TokenSetId rows, const HeadRange& heads);
  void check_written(const Op& op, const Entry& entry, const Slice& slice) const;
  /// `own_counts`: what the op itself has just written is in use too.
  void check_unused(const Op& op, const Entry& entry, BufferId buffer, bool own_counts) const;
  void check_writable(const Op& op, BufferId buffer) const;
  [[noreturn]] void refuse_unwritten(const Op& op, const Slice& slice) const;
  Place place_of(const Op& op) const;
  std::string describe_rows(BufferId buffer, TokenSetId rows, const HeadRange& heads) const;
  /// rows x heads, in elements of width 1: pieces that do not overlap fill a slice when their areas add up to its area.
  Token area(TokenSetId rows, const HeadRange& heads) const { return sets_.size(rows) * heads.size(); }

  const Schedule& schedule_;
  const RankId rank_;
  TokenAlgebra& sets_;
  Values& values_;
  Phase phase_ = Phase::forward;
  const HappensBefore* order_ = nullptr;
  std::vector<std::vector<Entry>> buffers_;  // [buffer]: entries that do not overlap
  std::vector<bool> is_input_;               // [buffer]: q, k, v or d_o of the boundary
};

}  // namespace hsap::proof
