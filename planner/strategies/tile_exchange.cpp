#include "planner/strategies/tile_exchange.hpp"

#include <optional>
#include <utility>

#include "planner/strategies/tile_plan.hpp"
#include "planner/strategies/view_groups.hpp"

namespace hsap {

namespace {

struct KvSlices {
  Slice k, v;
};

/// Queries that meet the keys of one stage, or a rank's own.
struct Meeting {
  TokenSetId own = 0;
  TokenSetId visitors = 0;
};

/// Who meets whom on a group: its own keys first, then those of each stage.
struct TileWork {
  std::vector<Meeting> meetings;
  std::size_t own_pieces = 0, visitor_pieces = 0;  ///< meetings with such queries
};

/// One member of one group: its program.
class Member {
 public:
  /// `lane[g]` = view of this member's counterpart in group g.
  Member(ProgramBuilder& builder, const std::vector<View>& lane, const View& view, const TilePlan& plan, const GroupTile& tile,
         const TileWork& work, const ExchangeRules& rules)
      : builder_(builder),
        lane_(lane),
        view_(view),
        plan_(plan),
        tile_(tile),
        work_(work),
        rules_(rules),
        fetched_(tile.stages.size()) {
    for (const TileStage& stage : tile.stages) others_add_ |= !stage.to.empty();
    others_add_ |= is_visited() && holds_tokens();
    visiting_ = {.rank = view.rank, .tokens = tile.visitors, .query_heads = view.query_heads, .kv_heads = view.kv_heads};
  }

  void forward() {
    make_room();
    std::optional<OutputAccumulator> output, of_visitors;
    if (holds_tokens()) output.emplace(builder_, view_, work_.own_pieces + tile_.visits_to.size());
    if (is_visited()) {
      visiting_.o = new_buffer(Role::o, model_dtype(), tile_.visitors, "o of visitors").buffer;
      of_visitors.emplace(builder_, visiting_, work_.visitor_pieces);
    }
    const auto meet = [&](std::size_t meeting, const KvSlices& keys) {
      const Meeting& queries = work_.meetings[meeting];
      const int step = static_cast<int>(meeting);
      if (!is_empty(queries.own)) output->attend(step, queries.own, keys.k, keys.v);
      if (!is_empty(queries.visitors)) of_visitors->attend(step, queries.visitors, keys.k, keys.v);
    };

    visit(Phase::forward, {view_.q}, {visiting_.q});
    fetch(Phase::forward, 0);
    meet(0, own_keys());
    for (std::size_t stage = 0; stage < stages(); ++stage) {
      if (stage + 1 < stages()) fetch(Phase::forward, stage + 1);
      meet(stage + 1, fetched_[stage]);
    }
    if (is_visited()) {
      of_visitors->finish(last_step());
      lse_of_visitors_ = of_visitors->lse()->buffer;
    }
    const std::vector<std::vector<Slice>> home =
        bring_home(Phase::forward, {visiting_.o, lse_of_visitors_}, {{Role::o, model_dtype()}, {Role::lse, DType::fp32}});
    if (!holds_tokens()) return;
    for (const std::vector<Slice>& piece : home) output->merge(last_step(), piece[0], piece[1]);
    output->finish(last_step());
    lse_ = output->lse();
  }

  void backward() {
    if (again()) make_room();
    std::optional<QueryGradientAccumulator> d_q, of_visitors;
    const BufferId delta = make_delta();
    View visiting = visiting_;  // for backward: o holds delta in its place, which like lse is of all keys
    if (is_visited()) {
      visiting.d_o = new_buffer(Role::d_o, model_dtype(), tile_.visitors, "d_o of visitors").buffer;
      visiting.o = new_buffer(Role::delta, DType::fp32, tile_.visitors, "delta of visitors").buffer;
      visiting.d_q = new_buffer(Role::d_q, model_dtype(), tile_.visitors, "d_q of visitors").buffer;
      const Slice lse = new_buffer(Role::lse, DType::fp32, tile_.visitors, "lse of visitors");
      lse_of_visitors_ = lse.buffer;
      of_visitors.emplace(builder_, visiting, lse, work_.visitor_pieces);
    }
    if (holds_tokens()) d_q.emplace(builder_, view_, lse_, work_.own_pieces + tile_.visits_to.size());

    std::vector<BufferId> leave{view_.d_o, lse_ ? lse_->buffer : 0, delta};
    std::vector<BufferId> come{visiting.d_o, lse_of_visitors_, visiting.o};
    if (again()) leave.push_back(view_.q), come.push_back(visiting.q);
    visit(Phase::backward, leave, come);
    if (again()) fetch(Phase::backward, 0);
    if (holds_tokens()) {
      d_own_ = others_add_ ? new_gradients(DType::fp32, view_.tokens, "d_k sum", "d_v sum")
                           : KvSlices{own(view_.d_k), own(view_.d_v)};
      differentiate(0, own_keys(), d_own_, d_q, of_visitors);
    }
    for (std::size_t stage = 0; stage < stages(); ++stage) {
      if (again() && stage + 1 < stages()) fetch(Phase::backward, stage + 1);
      bring_gradients_home(stage, gradients_of(stage, d_q, of_visitors));
    }
    if (is_visited()) of_visitors->finish(last_step());
    for (const std::vector<Slice>& piece : bring_home(Phase::backward, {visiting.d_q}, {{Role::d_q, model_dtype()}}))
      d_q->add(last_step(), piece[0]);
    if (!holds_tokens()) return;
    d_q->finish(last_step());
    builder_.compute(view_.rank, Phase::backward, last_step(), std::move(parts_));
    if (others_add_) builder_.compute(view_.rank, Phase::backward, last_step(), copy(d_own_, {own(view_.d_k), own(view_.d_v)}));
  }

 private:
  struct Kind {
    Role role;
    DType dtype;
  };

  std::size_t stages() const { return tile_.stages.size(); }
  int last_step() const { return static_cast<int>(stages()) + 1; }
  bool again() const { return rules_.kv == KvForBackward::again; }
  bool is_empty(TokenSetId tokens) const { return builder_.tokens(tokens).empty(); }
  bool holds_tokens() const { return !is_empty(view_.tokens); }
  bool is_visited() const { return !is_empty(tile_.visitors); }
  DType model_dtype() const { return builder_.shape().dtype; }
  DType wire_dtype() const { return rules_.d_kv.value_or(model_dtype()); }
  RankId counterpart(int group) const { return lane_[static_cast<std::size_t>(group)].rank; }

  Slice rows(BufferId buffer, TokenSetId tokens) const { return builder_.rows(view_.rank, buffer, tokens); }
  Slice own(BufferId buffer) const { return rows(buffer, view_.tokens); }
  KvSlices own_keys() const { return {own(view_.k), own(view_.v)}; }
  std::vector<Slice> rows(const std::vector<BufferId>& buffers, TokenSetId tokens) const {
    std::vector<Slice> slices;
    for (const BufferId buffer : buffers) slices.push_back(rows(buffer, tokens));
    return slices;
  }
  Slice new_buffer(Role role, DType dtype, TokenSetId tokens, Label name) {
    const HeadRange heads = has_query_heads(role) ? view_.query_heads : view_.kv_heads;
    return builder_.whole(view_.rank, builder_.add_buffer(view_.rank, role, dtype, tokens, heads, name));
  }
  KvSlices new_gradients(DType dtype, TokenSetId tokens, Label d_k, Label d_v) {
    return {new_buffer(Role::d_k, dtype, tokens, d_k), new_buffer(Role::d_v, dtype, tokens, d_v)};
  }
  static Copy copy(const KvSlices& from, const KvSlices& into) { return Copy{{{from.k, into.k}, {from.v, into.v}}}; }

  /// Buffers for what comes here; what forward received stays for backward, unless it comes again.
  void make_room() {
    if (is_visited()) visiting_.q = new_buffer(Role::q, model_dtype(), tile_.visitors, "q of visitors").buffer;
    for (std::size_t stage = 0; stage < stages(); ++stage) {
      const TokenSetId keys = tile_.stages[stage].keys;
      if (!is_empty(keys))
        fetched_[stage] = {new_buffer(Role::k, model_dtype(), keys, "k fetched"),
                           new_buffer(Role::v, model_dtype(), keys, "v fetched")};
    }
  }

  /// Own rows of the buffers go to where queries visit, those of visitors come.
  void visit(Phase phase, const std::vector<BufferId>& leave, const std::vector<BufferId>& come) {
    Exchange exchange;
    for (const TileRows& to : tile_.visits_to)
      builder_.add_message(exchange.sends, counterpart(to.group), rows(leave, to.rows));
    for (const TileRows& from : tile_.visits_from)
      builder_.add_message(exchange.recvs, counterpart(from.group), rows(come, from.rows));
    builder_.add(view_.rank, phase, plan_.row_stream, 0, std::move(exchange));
  }

  /// The results of visitors go home; returns those of own rows, which come in new buffers of these kinds.
  std::vector<std::vector<Slice>> bring_home(Phase phase, const std::vector<BufferId>& results,
                                             const std::vector<Kind>& kinds) {
    Exchange exchange;
    std::vector<std::vector<Slice>> home;
    for (const TileRows& from : tile_.visits_from)
      builder_.add_message(exchange.sends, counterpart(from.group), rows(results, from.rows));
    for (const TileRows& to : tile_.visits_to) {
      std::vector<Slice>& come = home.emplace_back();
      for (const Kind& kind : kinds)
        come.push_back(new_buffer(kind.role, kind.dtype, to.rows, to_string(kind.role) + " from afar"));
      builder_.add_message(exchange.recvs, counterpart(to.group), come);
    }
    builder_.add(view_.rank, phase, plan_.row_stream, last_step(), std::move(exchange));
    return home;
  }

  /// Keys and values of a stage go along the columns.
  void fetch(Phase phase, std::size_t stage) {
    Exchange exchange;
    for (const TileRows& to : tile_.stages[stage].to)
      builder_.add_message(exchange.sends, counterpart(to.group), rows({view_.k, view_.v}, to.rows));
    for (const TileRows& from : tile_.stages[stage].from)
      builder_.add_message(exchange.recvs, counterpart(from.group),
                           rows({fetched_[stage].k.buffer, fetched_[stage].v.buffer}, from.rows));
    builder_.add(view_.rank, phase, plan_.column_stream, static_cast<int>(stage) + 1, std::move(exchange));
  }

  /// delta of the queries that visit others.
  BufferId make_delta() {
    if (is_empty(tile_.leaving)) return 0;
    const Slice delta = new_buffer(Role::delta, DType::fp32, tile_.leaving, "delta");
    builder_.compute(view_.rank, Phase::backward, 0,
                     Delta{rows(view_.o, tile_.leaving), rows(view_.d_o, tile_.leaving), delta});
    return delta.buffer;
  }

  /// Gradients of one meeting: d_k and d_v of all its queries in `sum`, which is fp32 where own queries and visitors meet them.
  void differentiate(std::size_t meeting, const KvSlices& keys, const KvSlices& sum,
                     std::optional<QueryGradientAccumulator>& d_q, std::optional<QueryGradientAccumulator>& of_visitors) {
    const Meeting& queries = work_.meetings[meeting];
    const int step = static_cast<int>(meeting);
    const bool both = !is_empty(queries.own) && !is_empty(queries.visitors);
    if (!is_empty(queries.own)) d_q->attend(step, queries.own, keys.k, keys.v, sum.k, sum.v);
    if (is_empty(queries.visitors)) return;
    const KvSlices part = both ? new_gradients(DType::fp32, keys.k.tokens, "d_k of visitors", "d_v of visitors") : sum;
    of_visitors->attend(step, queries.visitors, keys.k, keys.v, part.k, part.v);
    if (both) builder_.compute(view_.rank, Phase::backward, step, Accumulate{{{part.k, sum.k}, {part.v, sum.v}}});
  }

  /// Those of the keys that came in a stage, as they go home.
  KvSlices gradients_of(std::size_t stage, std::optional<QueryGradientAccumulator>& d_q,
                        std::optional<QueryGradientAccumulator>& of_visitors) {
    const TokenSetId keys = tile_.stages[stage].keys;
    if (is_empty(keys)) return {};
    const Meeting& queries = work_.meetings[stage + 1];
    const bool both = !is_empty(queries.own) && !is_empty(queries.visitors);
    const KvSlices sum = new_gradients(both ? DType::fp32 : wire_dtype(), keys, "d_k of fetched", "d_v of fetched");
    differentiate(stage + 1, fetched_[stage], sum, d_q, of_visitors);
    if (!both || wire_dtype() == DType::fp32) return sum;
    const KvSlices to_send = new_gradients(wire_dtype(), keys, "d_k to send", "d_v to send");
    builder_.compute(view_.rank, Phase::backward, static_cast<int>(stage) + 1, copy(sum, to_send));
    return to_send;
  }

  void bring_gradients_home(std::size_t stage, const KvSlices& gradients) {
    Exchange exchange;
    for (const TileRows& from : tile_.stages[stage].from)
      builder_.add_message(exchange.sends, counterpart(from.group), rows({gradients.k.buffer, gradients.v.buffer}, from.rows));
    for (const TileRows& to : tile_.stages[stage].to) {
      const KvSlices part = new_gradients(wire_dtype(), to.rows, "d_k part", "d_v part");
      builder_.add_message(exchange.recvs, counterpart(to.group), {part.k, part.v});
      parts_.terms.push_back({part.k, rows(d_own_.k.buffer, to.rows)});
      parts_.terms.push_back({part.v, rows(d_own_.v.buffer, to.rows)});
    }
    builder_.add(view_.rank, Phase::backward, plan_.column_stream, static_cast<int>(stage) + 1, std::move(exchange));
  }

  ProgramBuilder& builder_;
  const std::vector<View>& lane_;
  const View view_;
  const TilePlan& plan_;
  const GroupTile& tile_;
  const TileWork& work_;
  const ExchangeRules& rules_;
  bool others_add_ = false;        // to d_k and d_v of own keys
  View visiting_;                  // queries of others: q; and in forward o
  BufferId lse_of_visitors_ = 0;   // of the keys here in forward, of all keys in backward
  std::vector<KvSlices> fetched_;  // [stage]
  std::optional<Slice> lse_;
  KvSlices d_own_;
  Accumulate parts_;  // gradients of own keys that come from others
};

/// Visitors all meet the first keys that there are, so that each has a result from the start.
TileWork work_of(ProgramBuilder& builder, TokenSetId own, const GroupTile& tile) {
  TileWork work;
  const auto seeing = [&](TokenSetId keys, TokenSetId queries) {
    std::vector<TokenRange> ranges;
    builder.mask().queries_seeing(builder.tokens(keys), builder.tokens(queries), ranges);
    return builder.intern(ranges);
  };
  const auto add = [&](TokenSetId keys) {
    const bool none = builder.tokens(keys).empty();
    const bool first = !none && work.visitor_pieces == 0;
    work.meetings.push_back({seeing(keys, own), first ? tile.visitors : seeing(keys, tile.visitors)});
    work.own_pieces += !builder.tokens(work.meetings.back().own).empty();
    work.visitor_pieces += !builder.tokens(work.meetings.back().visitors).empty();
  };
  add(own);
  for (const TileStage& stage : tile.stages) add(stage.keys);
  return work;
}

}  // namespace

void tile_exchange(ProgramBuilder& builder, const std::vector<std::vector<View>>& views, const std::vector<int>& node_of_rank,
                   const ExchangeRules& rules) {
  const ViewGroups groups = view_groups(builder, views, node_of_rank);
  const TilePlan plan = plan_tiles(builder, groups.tokens, groups.heads, groups.node, rules);

  for (std::size_t g = 0; g < views.size(); ++g) {
    const TileWork work = work_of(builder, views[g].front().tokens, plan.groups[g]);
    for (std::size_t member = 0; member < groups.lanes.size(); ++member) {
      Member program(builder, groups.lanes[member], views[g][member], plan, plan.groups[g], work, rules);
      program.forward();
      program.backward();
    }
  }
}

}  // namespace hsap
