#include "planner/ir/verify/op_effects.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "planner/ir/verify/place.hpp"

namespace hsap::proof {

namespace {

class Effects {
 public:
  Effects(const Ledger& ledger, const Place& place, RankContents& contents)
      : ledger_(ledger), place_(place), op_(place.op), contents_(contents) {}

  void operator()(const Exchange&) const { assert(false && "the interpreter handles exchanges"); }

  void operator()(const Attend& attend) const {
    for (const Slice& input : {attend.q, attend.k, attend.v}) contents_.read(op_, input);
    const ValueId value = ledger_.values.term({attend.k.tokens, all_query_heads()});
    write(attend.o, value);
    if (attend.lse) write(*attend.lse, value);
  }

  void operator()(const Merge& merge) const {
    const std::vector<Piece> from_o = read(merge.from_o);
    const std::vector<Piece> from_lse = read(merge.from_lse);
    check_same(from_o, from_lse, merge.from_o, merge.from_lse);
    check_same(contents_.look(merge.o), contents_.look(merge.lse), merge.o, merge.lse);
    contents_.add(op_, merge.o, from_o);
    contents_.add(op_, merge.lse, from_lse);
  }

  /// delta stands for the o it was made from: it is right for the rows for which o is.
  void operator()(const Delta& delta) const {
    contents_.read(op_, delta.d_o);
    for (const Piece& piece : read(delta.o)) contents_.write(op_, delta.delta.buffer, piece);
  }

  void operator()(const AttendBackward& attend) const {
    for (const Slice& input : {attend.q, attend.k, attend.v, attend.d_o}) contents_.read(op_, input);
    if (attend.o && attend.lse) {
      const std::vector<Piece> o = read(*attend.o);
      check_same(o, read(*attend.lse), *attend.o, *attend.lse);
      for (const Piece& piece : o)
        if (const auto gap = ledger_.cover.find_gap(piece.value, piece.rows, piece.heads, Direction::keys_of_queries))
          refuse(place_, "reads " + describe_buffer(place_.schedule, place_.rank, attend.o->buffer) +
                             ", which is not the whole softmax: " + describe(*gap, Direction::keys_of_queries, ledger_.sets));
    }
    write(attend.d_q, ledger_.values.term({attend.k.tokens, all_query_heads()}));
    const TokenSetId queries = attend.q.tokens == TokenAlgebra::kEmpty ? kZeroOfRank | place_.rank : attend.q.tokens;
    const ValueId value = ledger_.values.term({queries, attend.q.heads});
    write(attend.d_k, value);
    write(attend.d_v, value);
  }

  void operator()(const Accumulate& accumulate) const {
    for (const Transfer& term : accumulate.terms) {
      const std::vector<Piece> added = read(term.from);
      if (place_.schedule.shape.kind == AttentionKind::softmax &&
          place_.schedule.buffer(place_.rank, term.into.buffer).role == Role::o)
        check_one_is_zero(added, contents_.look(term.into), term.into);
      contents_.add(op_, term.into, added);
    }
  }

  void operator()(const Zero& zero) const {
    for (const Slice& slice : zero.slices) write(slice, ledger_.values.term({kZeroOfRank | place_.rank, all_query_heads()}));
  }

  void operator()(const Copy& copy) const {
    for (const Transfer& term : copy.terms) {
      if (is_input(place_.schedule.buffer(place_.rank, term.from.buffer).role)) {
        contents_.read(op_, term.from);
        write(term.into, kInput);
      } else {
        for (const Piece& piece : read(term.from)) contents_.write(op_, term.into.buffer, piece);
      }
    }
  }

  void operator()(const StateUpdate& update) const {
    contents_.read(op_, update.a);
    contents_.read(op_, update.b);
    // A forward state has no query heads in it: it serves them all. A backward one sums over the query heads of a.
    const bool forward = place_.schedule.buffer(place_.rank, update.state.buffer).role == Role::state;
    const ValueId rows = ledger_.values.term({update.a.tokens, forward ? all_query_heads() : update.a.heads});
    if (!update.before) return write(update.state, rows);
    for (const Piece& before : read(*update.before))
      contents_.write(op_, update.state.buffer, {update.state.tokens, before.heads, ledger_.values.sum(before.value, rows)});
  }

  void operator()(const StateSum& sum) const {
    // What the terms so far add up to: pieces of all tokens, cut by heads wherever a term's value changes.
    std::vector<Piece> total;
    for (const Slice& term : sum.terms) {
      std::vector<Piece> longer;
      for (const Piece& added : read(term)) {
        if (&term == &sum.terms.front()) longer.push_back({sum.state.tokens, added.heads, added.value});
        for (const Piece& piece : total) {
          const HeadRange heads{std::max(piece.heads.begin, added.heads.begin), std::min(piece.heads.end, added.heads.end)};
          if (heads.size() > 0) longer.push_back({sum.state.tokens, heads, ledger_.values.sum(piece.value, added.value)});
        }
      }
      total = std::move(longer);
    }
    for (const Piece& piece : total) contents_.write(op_, sum.state.buffer, piece);
  }

  void operator()(const StateApply& apply) const {
    contents_.read(op_, apply.x);
    const int group = has_query_heads(place_.schedule.buffer(place_.rank, apply.x.buffer).role)
                          ? place_.schedule.shape.queries_per_kv_head()
                          : 1;
    for (const Piece& state : read(apply.state)) {
      const HeadRange heads{std::max(apply.out.heads.begin, state.heads.begin * group),
                            std::min(apply.out.heads.end, state.heads.end * group)};
      contents_.write(op_, apply.out.buffer, {apply.out.tokens, heads, state.value});
    }
  }

 private:
  HeadRange all_query_heads() const { return {0, place_.schedule.shape.query_heads}; }

  std::vector<Piece> read(const Slice& slice) const {
    std::vector<Piece> pieces;
    contents_.read(op_, slice, &pieces);
    return pieces;
  }

  void write(const Slice& slice, ValueId value) const {
    contents_.write(op_, slice.buffer, {slice.tokens, slice.heads, value});
  }

  /// Two partial softmax results do not add up; one and zeros do.
  void check_one_is_zero(const std::vector<Piece>& added, const std::vector<Piece>& into, const Slice& slice) const {
    for (const Piece& a : added)
      for (const Piece& b : into) {
        const bool overlap = a.heads.begin < b.heads.end && b.heads.begin < a.heads.end &&
                             ledger_.sets.intersection(a.rows, b.rows) != TokenAlgebra::kEmpty;
        if (overlap && !ledger_.values.only_zeros(a.value) && !ledger_.values.only_zeros(b.value))
          refuse(place_, "adds up two partial results in " + describe_buffer(place_.schedule, place_.rank, slice.buffer) +
                             "; those of softmax are merged");
      }
  }

  /// o and lse belong together only when both have seen the same keys.
  void check_same(const std::vector<Piece>& o, const std::vector<Piece>& lse, const Slice& o_slice,
                  const Slice& lse_slice) const {
    for (const Piece& a : o)
      for (const Piece& b : lse) {
        const bool overlap = a.heads.begin < b.heads.end && b.heads.begin < a.heads.end &&
                             ledger_.sets.intersection(a.rows, b.rows) != TokenAlgebra::kEmpty;
        if (overlap && a.value != b.value)
          refuse(place_, describe_buffer(place_.schedule, place_.rank, o_slice.buffer) + " and " +
                             describe_buffer(place_.schedule, place_.rank, lse_slice.buffer) + " have not seen the same keys");
      }
  }

  const Ledger& ledger_;
  const Place& place_;
  const Op& op_;
  RankContents& contents_;
};

}  // namespace

bool is_input(Role role) { return role == Role::q || role == Role::k || role == Role::v || role == Role::d_o; }

std::string describe(const Gap& gap, Direction direction, const TokenAlgebra& sets) {
  const bool row_is_query = direction == Direction::keys_of_queries;
  if (gap.twice) {
    const bool is_zero = *gap.twice >= kZeroOfRank;
    return (is_zero ? "the zero of rank " + std::to_string(*gap.twice - kZeroOfRank)
                    : std::string("the partial result over ") + (row_is_query ? "keys " : "queries ") +
                          describe(sets[*gap.twice])) +
           " enters twice (query head " + std::to_string(gap.query_head) + ")";
  }
  const Token query = row_is_query ? gap.row : gap.other;
  const Token key = row_is_query ? gap.other : gap.row;
  return "query " + std::to_string(query) + " meets key " + std::to_string(key) + " " + std::to_string(gap.times) +
         " times instead of once (query head " + std::to_string(gap.query_head) + ")";
}

void apply(const Ledger& ledger, RankId rank, Phase phase, const Op& op, RankContents& contents) {
  const Place place{ledger.schedule, rank, phase, op};
  std::visit(Effects(ledger, place, contents), op.body);
}

}  // namespace hsap::proof
