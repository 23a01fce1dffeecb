#include "planner/strategies/needed_exchange.hpp"

#include <algorithm>
#include <utility>

#include "planner/strategies/view_groups.hpp"

namespace hsap {

namespace {

/// What a group does in one stage with rows of others.
struct StageWork {
  TokenSetId keys = 0;      ///< that come here
  TokenSetId queries = 0;   ///< own ones that see them
  TokenSetId visitors = 0;  ///< queries that come here
  TokenSetId seen = 0;      ///< own keys that they see
};

/// What a group takes part in: its moves in the order of their exchanges, and its work by stage.
struct GroupPlan {
  std::vector<const Move*> in, out;
  std::vector<StageWork> stages;
};

/// One member of one group: its program.
class Member {
 public:
  /// `lane[g]` = view of this member's counterpart in group g.
  Member(ProgramBuilder& builder, const std::vector<View>& lane, const View& view, const GroupPlan& plan,
         const ExchangeRules& rules)
      : builder_(builder), lane_(lane), view_(view), plan_(plan), rules_(rules), visits_(plan.stages.size()) {
    for (const StageWork& work : plan.stages) {
      pieces_ += !is_empty(work.keys);
      waits_ |= !is_empty(work.visitors) || (!is_empty(work.keys) && again());
      is_visited_ |= !is_empty(work.visitors);
    }
    for (const Move* move : plan.out) {
      const bool is_query = move->what == Moving::q;
      pieces_ += is_query;
      (is_query ? queries_leave_ : keys_leave_) = true;
    }
  }

  void forward() {
    OutputAccumulator output(builder_, view_, pieces_);
    make_room(Phase::forward);
    go_there(0);
    if (holds_tokens()) output.attend(0, view_.tokens, own(view_.k), own(view_.v));
    for (std::size_t stage = 0; stage < stages(); ++stage) {
      if (stage + 1 < stages()) go_there(stage + 1);
      attend(stage, output);
      if (stage > 0) merge(stage - 1, output);
      bring_outputs_home(stage);
    }
    merge(stages() - 1, output);
    if (holds_tokens()) output.finish(step_of(stages()));
    lse_ = output.lse();
  }

  void backward() {
    if (!holds_tokens()) return;
    QueryGradientAccumulator d_q(builder_, view_, lse_, pieces_);
    const bool others_add = keys_leave_ || is_visited_;
    const auto sum = [&](Role role, BufferId result) {
      return others_add ? new_buffer(role, DType::fp32, view_.tokens, to_string(role) + " sum") : own(result);
    };
    d_k_ = sum(Role::d_k, view_.d_k);
    d_v_ = sum(Role::d_v, view_.d_v);
    make_room(Phase::backward);
    make_delta();

    const auto local_part = [&] { d_q.attend(0, view_.tokens, own(view_.k), own(view_.v), d_k_, d_v_); };
    go_there_again(0);
    if (waits_) local_part();
    for (std::size_t stage = 0; stage < stages(); ++stage) {
      if (stage + 1 < stages()) go_there_again(stage + 1);
      differentiate(stage, d_q);
      if (waits_ && stage > 0) add_query_gradients(stage - 1, d_q), add_key_gradients(stage - 1);
      bring_gradients_home(stage);
    }
    if (!waits_) local_part();
    const std::size_t first = waits_ ? stages() - 1 : 0;
    for (std::size_t stage = first; stage < stages(); ++stage) add_query_gradients(stage, d_q);
    d_q.finish(step_of(stages()));
    for (std::size_t stage = first; stage < stages(); ++stage) add_key_gradients(stage);
    if (others_add)
      builder_.compute(view_.rank, Phase::backward, step_of(stages()), Copy{{{d_k_, own(view_.d_k)}, {d_v_, own(view_.d_v)}}});
  }

 private:
  /// Rows of other groups that are here in one stage, with what becomes of them, and the results of own rows that were away.
  struct Visits {
    Slice k, v, d_k, d_v;                  // keys that came
    Slice q, o, d_o, lse, delta, d_q;      // queries that came; lse: theirs, or of their pieces here
    std::vector<std::vector<Slice>> home;  // results of own rows: (o, lse), (d_k, d_v) or (d_q)
  };

  std::size_t stages() const { return plan_.stages.size(); }
  static int step_of(std::size_t stage) { return static_cast<int>(stage) + 1; }
  bool again() const { return rules_.kv == KvForBackward::again; }
  bool is_empty(TokenSetId tokens) const { return builder_.tokens(tokens).empty(); }
  bool holds_tokens() const { return !is_empty(view_.tokens); }
  DType model_dtype() const { return builder_.shape().dtype; }
  RankId counterpart(int group) const { return lane_[static_cast<std::size_t>(group)].rank; }

  Slice own(BufferId buffer) const { return rows(buffer, view_.tokens); }
  Slice rows(BufferId buffer, TokenSetId tokens) const { return builder_.rows(view_.rank, buffer, tokens); }
  static std::vector<Slice> rows(std::vector<Slice> slices, TokenSetId tokens) {
    for (Slice& slice : slices) slice.tokens = tokens;
    return slices;
  }
  Slice new_buffer(Role role, DType dtype, TokenSetId tokens, Label name) {
    const HeadRange heads = has_query_heads(role) ? view_.query_heads : view_.kv_heads;
    return builder_.whole(view_.rank, builder_.add_buffer(view_.rank, role, dtype, tokens, heads, name));
  }

  /// Buffers for what comes here; what forward received stays, unless it comes again.
  void make_room(Phase phase) {
    const bool backward = phase == Phase::backward;
    for (std::size_t stage = 0; stage < stages(); ++stage) {
      const StageWork& work = plan_.stages[stage];
      Visits& visits = visits_[stage];
      const auto room = [&](Role role, DType dtype, TokenSetId tokens, const char* what) {
        return new_buffer(role, dtype, tokens, to_string(role) + " " + what);
      };
      const bool comes = !backward || again();
      if (comes && !is_empty(work.keys)) {
        visits.k = room(Role::k, model_dtype(), work.keys, "fetched");
        visits.v = room(Role::v, model_dtype(), work.keys, "fetched");
      }
      if (comes && !is_empty(work.visitors)) visits.q = room(Role::q, model_dtype(), work.visitors, "visiting");
      if (backward && !is_empty(work.visitors)) {
        visits.d_o = room(Role::d_o, model_dtype(), work.visitors, "visiting");
        visits.lse = room(Role::lse, DType::fp32, work.visitors, "visiting");
        visits.delta = room(Role::delta, DType::fp32, work.visitors, "visiting");
      }
      visits.home.clear();
    }
  }

  /// Calls post(stream, out, in) for each round of the stage in which this group takes part.
  template <class Post>
  void for_each_round(std::size_t stage, const Post& post) const {
    const auto of_stage = [&](const std::vector<const Move*>& moves, int stream) {
      std::vector<const Move*> found;
      for (const Move* move : moves)
        if (move->stage == static_cast<int>(stage) && move->stream == stream) found.push_back(move);
      return found;
    };
    for (const int stream : {kBetweenNodes, kInsideNode}) {
      const std::vector<const Move*> in = of_stage(plan_.in, stream), out = of_stage(plan_.out, stream);
      for (std::size_t i = 0, o = 0; i < in.size() || o < out.size();) {
        const int round = std::min(i < in.size() ? in[i]->round : out[o]->round, o < out.size() ? out[o]->round : in[i]->round);
        const Move* receive = i < in.size() && in[i]->round == round ? in[i++] : nullptr;
        const Move* send = o < out.size() && out[o]->round == round ? out[o++] : nullptr;
        post(stream, send, receive);
      }
    }
  }

  /// The rounds of a stage, each message with leaving(move) to where the move goes, arriving(move) being its place there.
  template <class Leaving, class Arriving>
  void send_there(Phase phase, std::size_t stage, const Leaving& leaving, const Arriving& arriving) {
    for_each_round(stage, [&](int stream, const Move* out, const Move* in) {
      Exchange exchange;
      if (out) builder_.add_message(exchange.sends, counterpart(out->to), leaving(*out));
      if (in) builder_.add_message(exchange.recvs, counterpart(in->from), arriving(*in));
      builder_.add(view_.rank, phase, stream, step_of(stage), std::move(exchange));
    });
  }

  /// The same rounds with every message turned round: results(move) of the rows that came here, room(move) for those of own
  /// rows, which is noted.
  template <class Results, class Room>
  void send_home(Phase phase, std::size_t stage, const Results& results, const Room& room) {
    for_each_round(stage, [&](int stream, const Move* out, const Move* in) {
      Exchange exchange;
      if (in) builder_.add_message(exchange.sends, counterpart(in->from), results(*in));
      if (out)
        if (const std::vector<Slice> home = room(*out); !home.empty()) {
          builder_.add_message(exchange.recvs, counterpart(out->to), home);
          visits_[stage].home.push_back(home);
        }
      builder_.add(view_.rank, phase, stream, step_of(stage), std::move(exchange));
    });
  }

  void go_there(std::size_t stage) {
    const Visits& visits = visits_[stage];
    const auto leaving = [&](const Move& move) {
      return move.what == Moving::kv ? std::vector<Slice>{rows(view_.k, move.rows), rows(view_.v, move.rows)}
                                     : std::vector<Slice>{rows(view_.q, move.rows)};
    };
    const auto arriving = [&](const Move& move) {
      return move.what == Moving::kv ? rows({visits.k, visits.v}, move.rows) : rows({visits.q}, move.rows);
    };
    send_there(Phase::forward, stage, leaving, arriving);
  }

  void attend(std::size_t stage, OutputAccumulator& output) {
    const StageWork& work = plan_.stages[stage];
    Visits& visits = visits_[stage];
    if (!is_empty(work.keys)) output.attend(step_of(stage), work.queries, visits.k, visits.v);
    if (is_empty(work.visitors)) return;
    visits.o = new_buffer(Role::o, model_dtype(), work.visitors, "o of visitors");
    visits.lse = new_buffer(Role::lse, DType::fp32, work.visitors, "lse of visitors");
    builder_.compute(view_.rank, Phase::forward, step_of(stage),
                     Attend{visits.q, rows(view_.k, work.seen), rows(view_.v, work.seen), visits.o, visits.lse});
  }

  void bring_outputs_home(std::size_t stage) {
    const Visits& visits = visits_[stage];
    const auto results = [&](const Move& move) {
      return move.what == Moving::q ? rows({visits.o, visits.lse}, move.rows) : std::vector<Slice>{};
    };
    const auto room = [&](const Move& move) {
      return move.what == Moving::q ? std::vector<Slice>{new_buffer(Role::o, model_dtype(), move.rows, "o from afar"),
                                                         new_buffer(Role::lse, DType::fp32, move.rows, "lse from afar")}
                                    : std::vector<Slice>{};
    };
    send_home(Phase::forward, stage, results, room);
  }

  void merge(std::size_t stage, OutputAccumulator& output) {
    for (const std::vector<Slice>& home : visits_[stage].home) output.merge(step_of(stage), home[0], home[1]);
  }

  /// What backward needs of the outputs of queries that move.
  void make_delta() {
    if (!queries_leave_) return;
    TokenSet leaving;
    for (const Move* move : plan_.out)
      if (move->what == Moving::q) leaving = set_union(leaving, builder_.tokens(move->rows));
    const TokenSetId tokens = builder_.intern(leaving);
    delta_ = new_buffer(Role::delta, DType::fp32, tokens, "delta");
    builder_.compute(view_.rank, Phase::backward, 0, Delta{rows(view_.o, tokens), rows(view_.d_o, tokens), delta_});
  }

  void go_there_again(std::size_t stage) {
    const Visits& visits = visits_[stage];
    const auto parts = [&](const Move& move, const Slice& k, const Slice& v, const Slice& q, const Slice& d_o, const Slice& lse,
                           const Slice& delta) {
      std::vector<Slice> slices;
      if (again()) slices = move.what == Moving::kv ? std::vector<Slice>{k, v} : std::vector<Slice>{q};
      if (move.what == Moving::q) slices.insert(slices.end(), {d_o, lse, delta});
      return rows(std::move(slices), move.rows);
    };
    const auto leaving = [&](const Move& move) {
      return parts(move, own(view_.k), own(view_.v), own(view_.q), own(view_.d_o), *lse_, delta_);
    };
    const auto arriving = [&](const Move& move) {
      return parts(move, visits.k, visits.v, visits.q, visits.d_o, visits.lse, visits.delta);
    };
    send_there(Phase::backward, stage, leaving, arriving);
  }

  void differentiate(std::size_t stage, QueryGradientAccumulator& d_q) {
    const StageWork& work = plan_.stages[stage];
    Visits& visits = visits_[stage];
    const int step = step_of(stage);
    if (!is_empty(work.keys)) {
      const DType wire = rules_.d_kv.value_or(model_dtype());
      visits.d_k = new_buffer(Role::d_k, wire, work.keys, "d_k of fetched");
      visits.d_v = new_buffer(Role::d_v, wire, work.keys, "d_v of fetched");
      d_q.attend(step, work.queries, visits.k, visits.v, visits.d_k, visits.d_v);
    }
    if (is_empty(work.visitors)) return;
    visits.d_q = new_buffer(Role::d_q, model_dtype(), work.visitors, "d_q of visitors");
    const Slice d_k = new_buffer(Role::d_k, model_dtype(), work.seen, "d_k part");
    const Slice d_v = new_buffer(Role::d_v, model_dtype(), work.seen, "d_v part");
    builder_.compute(view_.rank, Phase::backward, step,
                     AttendBackward{visits.q, rows(view_.k, work.seen), rows(view_.v, work.seen), visits.delta, visits.lse,
                                    visits.d_o, visits.d_q, d_k, d_v});
    add_to_sums(step, {{d_k, d_v}});
  }

  void bring_gradients_home(std::size_t stage) {
    const Visits& visits = visits_[stage];
    const auto results = [&](const Move& move) {
      return move.what == Moving::kv ? rows({visits.d_k, visits.d_v}, move.rows) : rows({visits.d_q}, move.rows);
    };
    const auto room = [&](const Move& move) {
      const DType wire = rules_.d_kv.value_or(model_dtype());
      return move.what == Moving::kv ? std::vector<Slice>{new_buffer(Role::d_k, wire, move.rows, "d_k part"),
                                                          new_buffer(Role::d_v, wire, move.rows, "d_v part")}
                                     : std::vector<Slice>{new_buffer(Role::d_q, model_dtype(), move.rows, "d_q from afar")};
    };
    send_home(Phase::backward, stage, results, room);
  }

  void add_query_gradients(std::size_t stage, QueryGradientAccumulator& d_q) {
    for (const std::vector<Slice>& home : visits_[stage].home)
      if (home.size() == 1) d_q.add(step_of(stage), home[0]);
  }

  void add_key_gradients(std::size_t stage) {
    std::vector<std::pair<Slice, Slice>> parts;
    for (const std::vector<Slice>& home : visits_[stage].home)
      if (home.size() == 2) parts.emplace_back(home[0], home[1]);
    add_to_sums(step_of(stage), parts);
  }

  void add_to_sums(int step, const std::vector<std::pair<Slice, Slice>>& parts) {
    Accumulate sum;
    sum.terms.reserve(2 * parts.size());
    for (const auto& [d_k, d_v] : parts) {
      sum.terms.push_back({d_k, rows(d_k_.buffer, d_k.tokens)});
      sum.terms.push_back({d_v, rows(d_v_.buffer, d_v.tokens)});
    }
    builder_.compute(view_.rank, Phase::backward, step, std::move(sum));
  }

  ProgramBuilder& builder_;
  const std::vector<View>& lane_;
  const View view_;
  const GroupPlan& plan_;
  const ExchangeRules& rules_;
  std::vector<Visits> visits_;  // [stage]
  std::size_t pieces_ = 1;      // of o, and as many of d_q: the local one, one per stage with keys, one per move of queries
  bool queries_leave_ = false, keys_leave_ = false, is_visited_ = false;
  bool waits_ = false;  // in backward, for something without which not all of the work can be done
  std::optional<Slice> lse_;
  Slice delta_, d_k_, d_v_;
};

/// What a group that holds `own` does in each stage.
std::vector<StageWork> work_of(ProgramBuilder& builder, TokenSetId own, const std::vector<const Move*>& in, int stages) {
  std::vector<std::vector<TokenRange>> keys(static_cast<std::size_t>(stages)), visitors(keys.size());
  for (const Move* move : in) {
    auto& ranges = (move->what == Moving::kv ? keys : visitors)[static_cast<std::size_t>(move->stage)];
    const Ranges rows = builder.tokens(move->rows).ranges();
    ranges.insert(ranges.end(), rows.begin(), rows.end());
  }
  std::vector<StageWork> result;
  const auto among_own = [&](const TokenSet& tokens) { return builder.intern(intersection(builder.tokens(own), tokens)); };
  for (std::size_t stage = 0; stage < keys.size(); ++stage) {
    StageWork work;
    const TokenSet come(std::move(keys[stage])), visit(std::move(visitors[stage]));
    work.queries = among_own(builder.mask().queries_seeing(come));
    work.keys = builder.intern(come);
    work.seen = among_own(builder.mask().keys_seen_by(visit));
    work.visitors = builder.intern(visit);
    result.push_back(work);
  }
  return result;
}

}  // namespace

void needed_exchange(ProgramBuilder& builder, const std::vector<std::vector<View>>& views, const std::vector<int>& node_of_rank,
                     const ExchangeRules& rules) {
  const ViewGroups groups = view_groups(builder, views, node_of_rank);
  const std::vector<Move> moves = plan_moves(builder, groups.tokens, groups.heads, groups.node, rules);
  std::vector<GroupPlan> plans(views.size());
  for (const Move& move : moves) {
    plans[static_cast<std::size_t>(move.from)].out.push_back(&move);
    plans[static_cast<std::size_t>(move.to)].in.push_back(&move);
  }

  for (std::size_t g = 0; g < views.size(); ++g) {
    GroupPlan& plan = plans[g];
    plan.stages = work_of(builder, views[g].front().tokens, plan.in, rules.stages);
    for (std::size_t member = 0; member < groups.lanes.size(); ++member) {
      Member program(builder, groups.lanes[member], views[g][member], plan, rules);
      program.forward();
      program.backward();
    }
  }
}

}  // namespace hsap
