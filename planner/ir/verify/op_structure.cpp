#include "planner/ir/verify/op_structure.hpp"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

#include "planner/ir/verify/structure.hpp"

namespace hsap::proof {

namespace {

class OpStructure {
 public:
  OpStructure(const Place& place, TokenAlgebra& sets)
      : place_(place), schedule_(place.schedule), sets_(sets), softmax_(schedule_.shape.kind == AttentionKind::softmax) {}

  void operator()(const Exchange& exchange) const {
    if (exchange.sends.empty() && exchange.recvs.empty()) refuse(place_, "has no message");
    check_messages(exchange.sends, "sends to");
    check_messages(exchange.recvs, "receives from");
  }

  void operator()(const Attend& op) const {
    roles({{&op.q, Role::q}, {&op.k, Role::k}, {&op.v, Role::v}, {&op.o, Role::o}});
    has_rows(op.q), has_rows(op.k), same(op.q, op.o), same(op.k, op.v), serves(op.k, op.q);
    if (softmax_ != op.lse.has_value())
      refuse(place_, softmax_ ? "has no lse, which softmax needs" : "has an lse, which linear attention lacks");
    if (op.lse) roles({{&*op.lse, Role::lse}}), same(op.q, *op.lse);
  }

  void operator()(const Merge& op) const {
    if (!softmax_) refuse(place_, "is for softmax; linear attention adds up with accumulate");
    roles({{&op.from_o, Role::o}, {&op.from_lse, Role::lse}, {&op.o, Role::o}, {&op.lse, Role::lse}});
    has_rows(op.o), same(op.o, op.from_o), same(op.o, op.from_lse), same(op.o, op.lse);
    if (op.from_o.buffer == op.o.buffer || op.from_lse.buffer == op.lse.buffer) refuse(place_, "merges a buffer into itself");
  }

  void operator()(const Delta& op) const {
    if (!softmax_) refuse(place_, "is for softmax; linear attention has no use for it");
    roles({{&op.o, Role::o}, {&op.d_o, Role::d_o}, {&op.delta, Role::delta}});
    has_rows(op.o), same(op.o, op.d_o), same(op.o, op.delta);
  }

  /// q may have no rows: then d_k and d_v are zero, which is what a rank without tokens gives to a reduce-scatter.
  void operator()(const AttendBackward& op) const {
    roles({{&op.q, Role::q}, {&op.k, Role::k}, {&op.v, Role::v}, {&op.d_o, Role::d_o}});
    roles({{&op.d_q, Role::d_q}, {&op.d_k, Role::d_k}, {&op.d_v, Role::d_v}});
    has_rows(op.k), same(op.q, op.d_o), same(op.q, op.d_q), same(op.k, op.v), same(op.k, op.d_k), same(op.k, op.d_v),
        serves(op.k, op.q);
    if (softmax_ != op.o.has_value() || softmax_ != op.lse.has_value())
      refuse(place_, softmax_ ? "lacks o or lse, which softmax needs" : "has o or lse, which linear attention does not use");
    if (!softmax_) return;
    roles({{&*op.o, role_of(*op.o) == Role::delta ? Role::delta : Role::o}, {&*op.lse, Role::lse}});
    same(op.q, *op.o), same(op.q, *op.lse);
  }

  void operator()(const Accumulate& op) const {
    check_terms(op.terms);
    for (const Transfer& term : op.terms) {
      const Role role = role_of(term.into);
      const bool adds_up =
          role == Role::d_q || role == Role::d_k || role == Role::d_v || role == Role::d_state || role == Role::o;
      if (!adds_up) refuse(place_, "adds to " + name(term.into) + "; only gradients and o are sums");
    }
  }

  void operator()(const Copy& op) const { check_terms(op.terms); }

  void operator()(const Zero& op) const {
    if (op.slices.empty()) refuse(place_, "has no slice");
    for (const Slice& slice : op.slices) {
      const Role role = role_of(slice);
      has_rows(slice);
      if (role != Role::o && role != Role::d_q && role != Role::d_k && role != Role::d_v)
        refuse(place_, "fills " + name(slice) + " with zeros; only o, d_q, d_k and d_v are sums that may have such terms");
    }
  }

  void operator()(const StateUpdate& op) const {
    const bool forward = role_of(op.a) == Role::k;
    if (forward)
      roles({{&op.a, Role::k}, {&op.b, Role::v}, {&op.state, Role::state}});
    else
      roles({{&op.a, Role::q}, {&op.b, Role::d_o}, {&op.state, Role::d_state}});
    has_rows(op.a), has_rows(op.state), same(op.a, op.b);
    const HeadRange heads = forward ? op.a.heads : kv_heads_of(op.a.heads, schedule_.shape);
    if (op.state.heads != heads)
      refuse(place_, name(op.state) + " has " + describe(op.state.heads) + ", expected " + describe(heads));
    one_range(op.a);
    one_document({op.a.tokens, op.state.tokens});
    if (op.before) {
      roles({{&*op.before, role_of(op.state)}});
      has_rows(*op.before), same_heads(*op.before, op.state);
      if (sets_.intersection(op.before->tokens, op.a.tokens) != TokenAlgebra::kEmpty)
        refuse(place_, "adds tokens " + describe(sets_[op.a.tokens]) + " to a state that holds " +
                           describe(sets_[op.before->tokens]) + " already");
      const TokenRange rows = range_of(op.a);
      const TokenRange summed = range_of(*op.before);
      if (forward ? rows.begin != summed.end : rows.end != summed.begin)
        refuse(place_, "adds tokens " + describe(sets_[op.a.tokens]) + " to a state of " + describe(sets_[op.before->tokens]) +
                           "; they must lie right " + (forward ? "behind" : "before") + " its tokens, since it decays by them");
      sums_to(op.state, {std::min(rows.begin, summed.begin), std::max(rows.end, summed.end)});
    } else {
      sums_to(op.state, range_of(op.a));
    }
  }

  void operator()(const StateSum& op) const {
    const Role role = role_of(op.state);
    if (!is_state(role)) refuse(place_, "writes " + name(op.state) + ", expected a state or d_state");
    has_rows(op.state);
    if (op.terms.size() < 2) refuse(place_, "adds up " + std::to_string(op.terms.size()) + " states, expected two or more");
    for (const Slice& term : op.terms) roles({{&term, role}}), has_rows(term), same_heads(term, op.state);
    one_document({op.terms.front().tokens, op.terms.back().tokens, op.state.tokens});
    for (std::size_t i = 1; i < op.terms.size(); ++i)
      if (range_of(op.terms[i]).begin != range_of(op.terms[i - 1]).end)
        refuse(place_, "adds " + name(op.terms[i]) + " of tokens " + describe(sets_[op.terms[i].tokens]) + " to one of " +
                           describe(sets_[op.terms[i - 1].tokens]) + "; each term must begin where the one before it ends");
    sums_to(op.state, {range_of(op.terms.front()).begin, range_of(op.terms.back()).end});
  }

  void operator()(const StateApply& op) const {
    struct Form {
      Role x, state, out;
      bool transposed;
    };
    static constexpr Form kForms[] = {{Role::q, Role::state, Role::o, false},
                                      {Role::d_o, Role::state, Role::d_q, true},
                                      {Role::k, Role::d_state, Role::d_v, false},
                                      {Role::v, Role::d_state, Role::d_k, true}};
    const auto* form = std::find_if(std::begin(kForms), std::end(kForms), [&](const Form& f) { return f.x == role_of(op.x); });
    if (form == std::end(kForms)) refuse(place_, "applies a state to " + name(op.x) + ", expected q, d_o, k or v");
    roles({{&op.state, form->state}, {&op.out, form->out}});
    if (op.transposed != form->transposed)
      refuse(place_, std::string("must ") + (form->transposed ? "" : "not ") + "transpose the state for " + name(op.out));
    has_rows(op.x), has_rows(op.state), same(op.x, op.out);
    const HeadRange heads = has_query_heads(form->x) ? kv_heads_of(op.x.heads, schedule_.shape) : op.x.heads;
    if (op.state.heads != heads)
      refuse(place_, name(op.state) + " has " + describe(op.state.heads) + ", expected " + describe(heads));
    one_range(op.x);
    one_document({op.x.tokens, op.state.tokens});
    const TokenSet& rows = sets_[op.x.tokens];
    const TokenSet& summed = sets_[op.state.tokens];
    const bool before = form->state == Role::state;
    const bool in_order = before ? summed.ranges().back().end <= rows.ranges().front().begin
                                 : rows.ranges().back().end <= summed.ranges().front().begin;
    if (!in_order)
      refuse(place_, "applies a state of tokens " + describe(summed) + " to rows " + describe(rows) + "; all of it must lie " +
                         (before ? "before" : "after") + " them");
  }

 private:
  struct RoleOf {
    const Slice* slice;
    Role expected;
  };

  Role role_of(const Slice& slice) const {
    inside(slice);
    return schedule_.buffer(place_.rank, slice.buffer).role;
  }
  std::string name(const Slice& slice) const { return describe_buffer(schedule_, place_.rank, slice.buffer); }

  void inside(const Slice& slice) const {
    const auto& buffers = schedule_.ranks[place_.rank].buffers;
    if (slice.buffer >= buffers.size())
      refuse(place_, "names buffer " + std::to_string(slice.buffer) + ", the rank has " + std::to_string(buffers.size()));
    if (slice.tokens >= schedule_.token_sets.size())
      refuse(place_,
             "names token set " + std::to_string(slice.tokens) + ", there are " + std::to_string(schedule_.token_sets.size()));
    const Buffer& buffer = buffers[slice.buffer];
    if (slice.heads.end <= slice.heads.begin) refuse(place_, "takes no head of " + name(slice));
    if (slice.heads.begin < buffer.heads.begin || slice.heads.end > buffer.heads.end)
      refuse(place_, "takes " + describe(slice.heads) + " of " + name(slice) + ", which holds " + describe(buffer.heads));
    if (!sets_.contains(buffer.tokens, slice.tokens))
      refuse(place_, "takes tokens " + describe(sets_[slice.tokens]) + " of " + name(slice) + ", which holds " +
                         describe(sets_[buffer.tokens]));
    if (is_state(buffer.role) && slice.tokens != buffer.tokens)
      refuse(place_, "takes a part of the tokens of " + name(slice) + ", which is one sum over all of them");
  }

  void has_rows(const Slice& slice) const {
    if (slice.tokens == TokenAlgebra::kEmpty) refuse(place_, "takes no token of " + name(slice));
  }

  void roles(std::initializer_list<RoleOf> list) const {
    for (const auto& [slice, expected] : list)
      if (role_of(*slice) != expected)
        refuse(place_, "takes " + name(*slice) + " where it needs a buffer of role " + hsap::to_string(expected));
  }

  void same(const Slice& a, const Slice& b) const {
    if (a.tokens != b.tokens)
      refuse(place_, "takes tokens " + describe(sets_[a.tokens]) + " of " + name(a) + " but " + describe(sets_[b.tokens]) +
                         " of " + name(b));
    same_heads(a, b);
  }

  void same_heads(const Slice& a, const Slice& b) const {
    if (a.heads != b.heads)
      refuse(place_, "takes " + describe(a.heads) + " of " + name(a) + " but " + describe(b.heads) + " of " + name(b));
  }

  void serves(const Slice& k, const Slice& q) const {
    const HeadRange expected = kv_heads_of(q.heads, schedule_.shape);
    if (k.heads != expected)
      refuse(place_, "takes kv " + describe(k.heads) + " for query " + describe(q.heads) + ", which kv " + describe(expected) +
                         " serve");
  }

  void check_messages(const PooledList<Message>& messages, const std::string& verb) const {
    std::vector<RankId> peers;
    for (const Message& message : messages) {
      const std::string peer = verb + " rank " + std::to_string(message.peer);
      if (message.peer >= schedule_.ranks.size())
        refuse(place_, peer + ", there are " + std::to_string(schedule_.ranks.size()) + " ranks");
      if (message.peer == place_.rank) refuse(place_, peer + ", which is itself");
      if (message.parts.empty()) refuse(place_, peer + " a message without parts");
      for (const Slice& part : message.parts) inside(part), has_rows(part);
      peers.push_back(message.peer);
    }
    std::sort(peers.begin(), peers.end());
    const auto twice = std::adjacent_find(peers.begin(), peers.end());
    if (twice != peers.end())
      refuse(place_, verb + " rank " + std::to_string(*twice) + " two messages; one exchange has at most one");
  }

  void check_terms(const TransferList& terms) const {
    if (terms.empty()) refuse(place_, "has no term");
    for (const Transfer& term : terms) {
      roles({{&term.from, role_of(term.into)}});
      has_rows(term.into);
      same(term.from, term.into);
    }
  }

  void one_document(std::initializer_list<TokenSetId> sets) const {
    Token begin = schedule_.mask.tokens();
    Token end = 0;
    for (const TokenSetId id : sets) {
      begin = std::min(begin, sets_[id].ranges().front().begin);
      end = std::max(end, sets_[id].ranges().back().end);
    }
    const TokenRange document = schedule_.mask.document(schedule_.mask.document_of(begin));
    if (end > document.end)
      refuse(place_, "joins tokens " + std::to_string(begin) + " and " + std::to_string(end - 1) +
                         " in one state; the document ends at " + std::to_string(document.end));
  }

  /// @pre the slice is a state, or passed one_range().
  TokenRange range_of(const Slice& slice) const { return sets_[slice.tokens].ranges().front(); }

  void one_range(const Slice& rows) const {
    if (sets_[rows.tokens].ranges().size() > 1)
      refuse(place_, "takes tokens " + describe(sets_[rows.tokens]) + " of " + name(rows) +
                         ", expected one range: a state decays by distances that a gap would falsify");
  }

  void sums_to(const Slice& state, const TokenRange& summed) const {
    if (range_of(state) != summed)
      refuse(place_, "writes " + name(state) + " of tokens " + describe(sets_[state.tokens]) + ", but sums " +
                         describe(TokenSet{summed}));
  }

  const Place& place_;
  const Schedule& schedule_;
  TokenAlgebra& sets_;
  const bool softmax_;
};

}  // namespace

void check_op(const Place& place, TokenAlgebra& sets) { std::visit(OpStructure(place, sets), place.op.body); }

}  // namespace hsap::proof
