// Walks the program of one rank through one phase: the only place that knows what each op of the Schedule means to an executor.
// It knows no hardware: computing is the Device's, messages are the Communicator's, waiting is the Monitor's.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "backend/communicator.hpp"
#include "backend/device.hpp"
#include "backend/monitor.hpp"
#include "backend/rank_memory.hpp"
#include "backend/row_tables.hpp"
#include "backend/visible_rows.hpp"
#include "planner/ir/timeline.hpp"

namespace hsap {

/// What a rank works with.
struct RankResources {
  const RowTables& rows;
  RankMemory& memory;
  Device& device;
  Communicator& communicator;
  Monitor& monitor;
};

class RankWalker {
 public:
  /// `times` [ops of the phase] is filled in. Throws InvalidInput when an op waits for a later one.
  RankWalker(const Schedule& schedule, RankId rank, Phase phase, const RankResources& resources, std::vector<OpTime>& times);

  /// The streams that have ops, ascending.
  std::vector<int> streams() const;
  /// Runs the ops of one stream in order, each when those named in `after` are done. One thread per stream calls this. Times
  /// count from `start`. Throws BackendFailure naming rank, phase and op when an op fails, Stopped when another thread failed.
  void run_stream(int stream, std::chrono::steady_clock::time_point start);

 private:
  void run_op(const Op& op);
  void run(const Op& op, const Exchange& body);
  void run(const Op& op, const Attend& body);
  void run(const Op& op, const Merge& body);
  void run(const Op& op, const Delta& body);
  void run(const Op& op, const AttendBackward& body);
  void run(const Op& op, const Accumulate& body);
  void run(const Op& op, const Copy& body);
  void run(const Op& op, const Zero& body);
  void run(const Op& op, const StateUpdate& body);
  void run(const Op& op, const StateSum& body);
  void run(const Op& op, const StateApply& body);

  bool all_done(const OpList& ops) const;
  SliceView view(const Slice& slice) const;
  SliceView view(const std::optional<Slice>& slice) const;
  std::vector<PostedMessage> posted(const PooledList<Message>& messages) const;
  VisibleRows visible(const Slice& queries, const Slice& keys) const;
  HeadGroups groups(const Slice& rows, const Slice& kv) const;
  /// [heads of the slice]; empty when nothing decays.
  std::vector<float> decay_rates(const Slice& kv) const;
  /// [rows of the slice] where they lie in the batch; empty when nothing decays.
  std::vector<Index> decaying_rows(const Slice& rows) const;
  TokenRange range_of(const Slice& slice) const;

  const Schedule& schedule_;
  const RankId rank_;
  const Phase phase_;
  const PooledList<Op>& ops_;
  const RankResources resources_;
  std::vector<OpTime>& times_;
  std::vector<char> done_;  // [op], under the monitor's lock
};

}  // namespace hsap
