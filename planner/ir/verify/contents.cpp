#include "planner/ir/verify/contents.hpp"

#include <algorithm>

#include "planner/ir/errors.hpp"

namespace hsap::proof {

namespace {

HeadRange common(const HeadRange& a, const HeadRange& b) { return {std::max(a.begin, b.begin), std::min(a.end, b.end)}; }

}  // namespace

RankContents::RankContents(const Schedule& schedule, RankId rank, TokenAlgebra& sets, Values& values)
    : schedule_(schedule),
      rank_(rank),
      sets_(sets),
      values_(values),
      buffers_(schedule.ranks[rank].buffers.size()),
      is_input_(buffers_.size()) {
  const RankBoundary& boundary = schedule.ranks[rank].boundary;
  for (const BufferId input : {boundary.q, boundary.k, boundary.v, boundary.d_o}) is_input_[input] = true;
}

void RankContents::begin(Phase phase, const HappensBefore& order) {
  phase_ = phase;
  order_ = &order;
  for (auto& entries : buffers_)
    for (Entry& entry : entries) {
      entry.writer.in_this_phase = false;
      entry.readers = {};
    }
  const RankProgram& program = schedule_.ranks[rank_];
  if (program.tokens == TokenAlgebra::kEmpty) return;
  const auto bring = [&](BufferId input) {
    Entry entry;
    entry.piece = {program.tokens, program.buffers[input].heads, kInput};
    entry.read = true;
    buffers_[input].push_back(entry);
  };
  if (phase == Phase::forward)
    bring(program.boundary.q), bring(program.boundary.k), bring(program.boundary.v);
  else
    bring(program.boundary.d_o);
}

bool RankContents::cut(std::vector<Entry>& entries, std::size_t i, TokenSetId rows, const HeadRange& heads) {
  const Piece piece = entries[i].piece;
  const HeadRange inner = common(piece.heads, heads);
  if (inner.size() <= 0) return false;
  const TokenSetId inside = sets_.intersection(piece.rows, rows);
  if (inside == TokenAlgebra::kEmpty) return false;

  const auto keep_outside = [&](TokenSetId outer_rows, const HeadRange& outer_heads) {
    Entry rest = entries[i];
    rest.piece = {outer_rows, outer_heads, piece.value};
    entries.push_back(rest);
  };
  if (inside != piece.rows) keep_outside(sets_.difference(piece.rows, inside), piece.heads);
  if (piece.heads.begin < inner.begin) keep_outside(inside, {piece.heads.begin, inner.begin});
  if (inner.end < piece.heads.end) keep_outside(inside, {inner.end, piece.heads.end});
  entries[i].piece = {inside, inner, piece.value};
  return true;
}

void RankContents::read(const Op& op, const Slice& slice, std::vector<Piece>* pieces) {
  auto& entries = buffers_[slice.buffer];
  const bool input = is_input_[slice.buffer];  // never overwritten: no need to know who reads which part
  Token found = 0;
  for (std::size_t i = 0, known = entries.size(); i < known; ++i) {
    if (input) {
      found += area(sets_.intersection(entries[i].piece.rows, slice.tokens), common(entries[i].piece.heads, slice.heads));
      continue;
    }
    if (!cut(entries, i, slice.tokens, slice.heads)) continue;
    Entry& entry = entries[i];
    check_written(op, entry, slice);
    const std::size_t stream = order_->stream_of(op.id);
    entry.readers[stream] = std::max(entry.readers[stream], op.id + 1);
    entry.read = true;
    found += area(entry.piece.rows, entry.piece.heads);
    if (pieces != nullptr) pieces->push_back(entry.piece);
  }
  if (found != area(slice.tokens, slice.heads)) refuse_unwritten(op, slice);
}

std::vector<Piece> RankContents::look(const Slice& slice) const {
  std::vector<Piece> pieces;
  for (const Entry& entry : buffers_[slice.buffer]) {
    const HeadRange heads = common(entry.piece.heads, slice.heads);
    if (heads.size() <= 0) continue;
    const TokenSetId rows = sets_.intersection(entry.piece.rows, slice.tokens);
    if (rows != TokenAlgebra::kEmpty) pieces.push_back({rows, heads, entry.piece.value});
  }
  return pieces;
}

void RankContents::write(const Op& op, BufferId buffer, const Piece& piece, bool passing) {
  check_writable(op, buffer);
  if (piece.rows == TokenAlgebra::kEmpty) return;
  auto& entries = buffers_[buffer];
  bool replaced = false;
  for (std::size_t i = 0, known = entries.size(); i < known; ++i) {
    if (!cut(entries, i, piece.rows, piece.heads)) continue;
    check_unused(op, entries[i], buffer, true);
    if (!entries[i].read && !entries[i].passing)
      refuse(place_of(op), "overwrites " + describe_rows(buffer, entries[i].piece.rows, entries[i].piece.heads) +
                               ", which op " + std::to_string(entries[i].writer.op) + " wrote and nobody has read");
    entries[i].piece.rows = TokenAlgebra::kEmpty;
    replaced = true;
  }
  if (replaced) std::erase_if(entries, [](const Entry& entry) { return entry.piece.rows == TokenAlgebra::kEmpty; });
  Entry written;
  written.piece = piece;
  written.writer = {phase_, op.id, true};
  written.passing = passing;
  entries.push_back(written);
}

void RankContents::add(const Op& op, const Slice& slice, const std::vector<Piece>& terms) {
  check_writable(op, slice.buffer);
  auto& entries = buffers_[slice.buffer];
  Token found = 0;
  for (const Piece& term : terms)
    for (std::size_t i = 0, known = entries.size(); i < known; ++i) {
      if (!cut(entries, i, term.rows, term.heads)) continue;
      Entry& entry = entries[i];
      const bool own =
          entry.writer.in_this_phase && entry.writer.op == op.id;  // the terms of one op are added one after another
      if (!own) check_written(op, entry, slice);
      check_unused(op, entry, slice.buffer, false);
      entry.piece.value = values_.sum(entry.piece.value, term.value);
      if (values_.terms(entry.piece.value) > Values::kMaxTerms)
        refuse(place_of(op), "adds up more than " + std::to_string(Values::kMaxTerms) + " partial results in " +
                                 describe_rows(slice.buffer, entry.piece.rows, entry.piece.heads));
      entry.writer = {phase_, op.id, true};
      entry.readers = {};
      entry.read = false;
      entry.passing = false;
      found += area(entry.piece.rows, entry.piece.heads);
    }
  if (found != area(slice.tokens, slice.heads)) refuse_unwritten(op, slice);
}

std::vector<Piece> RankContents::pieces_of(BufferId buffer) const {
  std::vector<Piece> pieces;
  for (const Entry& entry : buffers_[buffer]) pieces.push_back(entry.piece);
  return pieces;
}

void RankContents::check_all_was_read() const {
  const RankBoundary& boundary = schedule_.ranks[rank_].boundary;
  for (BufferId buffer = 0; buffer < buffers_.size(); ++buffer) {
    if (buffer == boundary.o || buffer == boundary.d_q || buffer == boundary.d_k || buffer == boundary.d_v) continue;
    for (const Entry& entry : buffers_[buffer])
      if (!entry.read && !entry.passing) {
        const Op& op = ops_of(schedule_.ranks[rank_], entry.writer.phase)[entry.writer.op];
        refuse({schedule_, rank_, entry.writer.phase, op},
               "writes " + describe_rows(buffer, entry.piece.rows, entry.piece.heads) + ", which nobody reads");
      }
  }
}

void RankContents::check_written(const Op& op, const Entry& entry, const Slice& slice) const {
  if (!entry.writer.in_this_phase || (*order_)(entry.writer.op, op.id)) return;
  refuse(place_of(op), "reads " + describe_rows(slice.buffer, entry.piece.rows, entry.piece.heads) + ", which op " +
                           std::to_string(entry.writer.op) + " writes, but is not ordered behind it by stream or `after`");
}

void RankContents::check_unused(const Op& op, const Entry& entry, BufferId buffer, bool own_counts) const {
  const auto conflict = [&](OpIndex other, const std::string& verb) {
    const std::string rows = describe_rows(buffer, entry.piece.rows, entry.piece.heads);
    if (other == op.id) refuse(place_of(op), "writes " + rows + ", which it also " + verb);
    refuse(place_of(op), "writes " + rows + ", which op " + std::to_string(other) + " " + verb +
                             ", but is not ordered behind it by stream or `after`");
  };
  const bool own = entry.writer.op == op.id && !own_counts;
  if (entry.writer.in_this_phase && !own && !(*order_)(entry.writer.op, op.id)) conflict(entry.writer.op, "writes");
  const Clock& done = order_->before(op.id);
  for (std::size_t stream = 0; stream < done.size(); ++stream)
    if (entry.readers[stream] > done[stream]) conflict(entry.readers[stream] - 1, "reads");
}

void RankContents::check_writable(const Op& op, BufferId buffer) const {
  const bool is_input = is_input_[buffer];
  const bool is_kept_output = phase_ == Phase::backward && buffer == schedule_.ranks[rank_].boundary.o;
  if (!is_input && !is_kept_output) return;
  refuse(place_of(op), "writes " + describe_buffer(schedule_, rank_, buffer) + ", which is " +
                           (is_input ? "an input of the layer" : "the result of the forward phase"));
}

void RankContents::refuse_unwritten(const Op& op, const Slice& slice) const {
  const std::vector<Piece> written = look(slice);
  TokenSetId missing = TokenAlgebra::kEmpty;
  int head = slice.heads.begin;
  for (; head < slice.heads.end; ++head) {
    missing = slice.tokens;
    for (const Piece& piece : written)
      if (piece.heads.begin <= head && head < piece.heads.end) missing = sets_.difference(missing, piece.rows);
    if (missing != TokenAlgebra::kEmpty) break;
  }
  refuse(place_of(op),
         "reads " + describe_rows(slice.buffer, missing, {head, head + 1}) + ", which nothing ordered before it has written");
}

Place RankContents::place_of(const Op& op) const { return {schedule_, rank_, phase_, op}; }

std::string RankContents::describe_rows(BufferId buffer, TokenSetId rows, const HeadRange& heads) const {
  return describe_buffer(schedule_, rank_, buffer) + " tokens " + describe(sets_[rows]) + " " + describe(heads);
}

}  // namespace hsap::proof
