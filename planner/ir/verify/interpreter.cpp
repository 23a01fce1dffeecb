#include "planner/ir/verify/interpreter.hpp"

#include <algorithm>
#include <utility>

#include "planner/ir/errors.hpp"
#include "planner/ir/verify/op_effects.hpp"

namespace hsap::proof {

Interpreter::Interpreter(const Schedule& schedule, TokenAlgebra& sets, TokenCounts& counts)
    : schedule_(schedule), sets_(sets), cover_(schedule.mask, sets, values_, counts) {
  for (RankId rank = 0; rank < schedule.ranks.size(); ++rank) contents_.emplace_back(schedule, rank, sets_, values_);
}

void Interpreter::run(Phase phase) {
  phase_ = phase;
  order_.clear();
  for (const RankProgram& program : schedule_.ranks) order_.emplace_back(ops_of(program, phase));
  messages_ = match_messages(schedule_, phase, order_);
  in_flight_.assign(messages_.sends.size(), {});
  runs_.assign(schedule_.ranks.size(), {});
  for (RankId rank = 0; rank < runs_.size(); ++rank) prepare(rank);

  while (!awake_.empty()) {
    const RankId rank = awake_.front();
    awake_.pop_front();
    runs_[rank].queued = false;
    advance(rank);
  }
  refuse_if_waiting();

  for (RankId rank = 0; rank < runs_.size(); ++rank) {
    const RankBoundary& boundary = schedule_.ranks[rank].boundary;
    if (phase == Phase::forward) {
      check_result(rank, boundary.o, Direction::keys_of_queries);
    } else {
      check_result(rank, boundary.d_q, Direction::keys_of_queries);
      check_result(rank, boundary.d_k, Direction::queries_of_keys);
      check_result(rank, boundary.d_v, Direction::queries_of_keys);
    }
  }
}

void Interpreter::check_all_was_read() const {
  for (const RankContents& contents : contents_) contents.check_all_was_read();
}

void Interpreter::prepare(RankId rank) {
  contents_[rank].begin(phase_, order_[rank]);
  RankRun& run = runs_[rank];
  run.progress.assign(ops(rank).size(), Progress::waiting);
  for (const Op& op : ops(rank)) {
    const auto stream = static_cast<std::size_t>(op.stream);
    if (run.streams.size() <= stream) run.streams.resize(stream + 1);
    run.streams[stream].ops.push_back(op.id);
    const auto* exchange = std::get_if<Exchange>(&op.body);
    run.peers_to_come.push_back(
        exchange == nullptr ? 0 : static_cast<std::uint32_t>(exchange->sends.size() + exchange->recvs.size()));
  }
  wake(rank);
}

void Interpreter::wake(RankId rank) {
  if (runs_[rank].queued) return;
  runs_[rank].queued = true;
  awake_.push_back(rank);
}

bool Interpreter::ready(RankId rank, const Op& op) const {
  return std::all_of(op.after.begin(), op.after.end(),
                     [&](OpIndex earlier) { return runs_[rank].progress[earlier] == Progress::done; });
}

void Interpreter::advance(RankId rank) {
  RankRun& run = runs_[rank];
  for (bool moved = true; moved;) {
    moved = false;
    for (Stream& stream : run.streams)
      while (stream.next < stream.ops.size()) {
        const Op& op = ops(rank)[stream.ops[stream.next]];
        Progress& progress = run.progress[op.id];
        if (progress == Progress::waiting && !ready(rank, op)) break;
        if (const auto* exchange = std::get_if<Exchange>(&op.body)) {
          if (progress == Progress::waiting) post(rank, op, *exchange);
          if (run.peers_to_come[op.id] > 0) break;
          receive(rank, op, *exchange);
        } else {
          apply({schedule_, sets_, values_, cover_}, rank, phase_, op, contents_[rank]);
        }
        progress = Progress::done;
        ++stream.next;
        moved = true;
      }
  }
}

void Interpreter::post(RankId rank, const Op& op, const Exchange& exchange) {
  runs_[rank].progress[op.id] = Progress::posted;
  for (std::uint32_t i = 0; i < exchange.sends.size(); ++i) {
    const MessageIndex send = messages_.first_send[rank][op.id] + i;
    const SliceList& parts = exchange.sends[i].parts;
    for (std::uint32_t part = 0; part < parts.size(); ++part) {
      const bool input = is_input(schedule_.buffer(rank, parts[part].buffer).role);
      std::vector<Piece> pieces;
      contents_[rank].read(op, parts[part], input ? nullptr : &pieces);
      for (const Piece& piece : pieces) in_flight_[send].push_back({part, piece});
    }
    meet(messages_.recvs[messages_.sends[send].match]);
  }
  for (std::uint32_t i = 0; i < exchange.recvs.size(); ++i)
    meet(messages_.sends[messages_.recvs[messages_.first_recv[rank][op.id] + i].match]);
}

void Interpreter::meet(const MessageEnd& end) {
  RankRun& run = runs_[end.rank];
  if (--run.peers_to_come[end.op] == 0) wake(end.rank);
}

void Interpreter::receive(RankId rank, const Op& op, const Exchange& exchange) {
  for (std::uint32_t i = 0; i < exchange.recvs.size(); ++i) {
    const MessageIndex send = messages_.recvs[messages_.first_recv[rank][op.id] + i].match;
    const SliceList& parts = exchange.recvs[i].parts;
    for (const Slice& part : parts)
      if (is_input(schedule_.buffer(rank, part.buffer).role))
        contents_[rank].write(op, part.buffer, {part.tokens, part.heads, kInput}, true);
    for (const Carried& carried : in_flight_[send]) {
      const BufferId buffer = parts[carried.part].buffer;
      const Role role = schedule_.buffer(rank, buffer).role;
      contents_[rank].write(op, buffer, carried.piece, role == Role::lse || role == Role::delta);  // they travel with q
    }
    in_flight_[send] = {};
  }
}

std::pair<RankId, OpIndex> Interpreter::blocker_of(RankId rank, OpIndex id) const {
  const RankRun& run = runs_[rank];
  const Op& op = ops(rank)[id];
  if (run.progress[id] == Progress::waiting) {
    const Stream& stream = run.streams[static_cast<std::size_t>(op.stream)];
    if (stream.ops[stream.next] != id) return {rank, stream.ops[stream.next]};
    for (const OpIndex earlier : op.after)
      if (run.progress[earlier] != Progress::done) return {rank, earlier};
  }
  const auto& exchange = std::get<Exchange>(op.body);
  const auto not_posted = [&](const MessageEnd& end) { return runs_[end.rank].progress[end.op] == Progress::waiting; };
  for (std::uint32_t i = 0; i < exchange.sends.size(); ++i) {
    const MessageEnd& end = messages_.recvs[messages_.sends[messages_.first_send[rank][id] + i].match];
    if (not_posted(end)) return {end.rank, end.op};
  }
  for (std::uint32_t i = 0; i < exchange.recvs.size(); ++i) {
    const MessageEnd& end = messages_.sends[messages_.recvs[messages_.first_recv[rank][id] + i].match];
    if (not_posted(end)) return {end.rank, end.op};
  }
  return {rank, id};
}

void Interpreter::refuse_if_waiting() const {
  for (RankId rank = 0; rank < runs_.size(); ++rank) {
    const auto& progress = runs_[rank].progress;
    const auto stuck = std::find_if(progress.begin(), progress.end(), [](Progress p) { return p != Progress::done; });
    if (stuck == progress.end()) continue;
    // Every message has two ends, so following what waits for what must come back to where it was.
    std::vector<std::pair<RankId, OpIndex>> chain{{rank, static_cast<OpIndex>(stuck - progress.begin())}};
    std::string text = "the ranks wait for each other for ever: ";
    for (;;) {
      const auto [at, op] = chain.back();
      text += to_string(Place{schedule_, at, phase_, ops(at)[op]}) + " waits for ";
      const auto next = blocker_of(at, op);
      const bool known = std::find(chain.begin(), chain.end(), next) != chain.end();
      if (known || chain.size() == kMostWaitersNamed) {
        text += to_string(Place{schedule_, next.first, phase_, ops(next.first)[next.second]}) + (known ? "" : ", and so on");
        throw InvalidInput(text);
      }
      chain.push_back(next);
    }
  }
}

void Interpreter::check_result(RankId rank, BufferId buffer, Direction direction) {
  const TokenSetId owned = schedule_.ranks[rank].tokens;
  const Buffer& result = schedule_.buffer(rank, buffer);
  const std::string where =
      "rank " + std::to_string(rank) + ", after " + hsap::to_string(phase_) + ": " + describe_buffer(schedule_, rank, buffer);
  const std::vector<Piece> pieces = contents_[rank].pieces_of(buffer);
  for (int head = result.heads.begin; head < result.heads.end; ++head) {
    Token rows = 0;
    for (const Piece& piece : pieces)
      if (piece.heads.begin <= head && head < piece.heads.end) rows += sets_.size(piece.rows);
    if (rows != sets_.size(owned))
      throw InvalidInput(where + " holds " + std::to_string(rows) + " of the rank's " + std::to_string(sets_.size(owned)) +
                         " tokens for head " + std::to_string(head));
  }
  const int group = has_query_heads(result.role) ? 1 : schedule_.shape.queries_per_kv_head();
  for (const Piece& piece : pieces)
    if (const auto gap =
            cover_.find_gap(piece.value, piece.rows, {piece.heads.begin * group, piece.heads.end * group}, direction))
      throw InvalidInput(where + ": " + describe(*gap, direction, sets_));
}

}  // namespace hsap::proof
