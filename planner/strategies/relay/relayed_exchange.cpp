#include "planner/strategies/relay/relayed_exchange.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "planner/strategies/move_plan.hpp"  // the streams
#include "planner/strategies/relay/sorted_runs.hpp"

namespace hsap {

namespace {

int stream_of(Hop hop) { return hop == Hop::between ? kBetweenNodes : kInsideNode; }

/// d_k and d_v, or k and v, of the same rows.
struct KvSlices {
  Slice k, v;
};

/// What a group takes part in, with where each stage and hop is found in it.
struct GroupParts {
  GroupRelays relays;
  SortedRuns<Arrival> arrivals_of_stage;
  SortedRuns<Relay> in_of_hop, out_of_hop;

  static std::size_t key(int stage, Hop hop) { return 3 * static_cast<std::size_t>(stage) + static_cast<std::size_t>(hop); }

  void find(const RelayPlan& plan, std::size_t group) {
    relays = plan.of_group(group);
    const auto stages = static_cast<std::size_t>(plan.stages);
    arrivals_of_stage.find(relays.arrivals, stages, [](const Arrival& a) { return static_cast<std::size_t>(a.stage); });
    const auto hop = [](const Relay& relay) { return key(relay.stage, relay.hop); };
    in_of_hop.find(relays.in, 3 * stages, hop);
    out_of_hop.find(relays.out, 3 * stages, hop);
  }
};

/// Buffers of a member's program, in memory that the next member's are kept in.
struct MemberBuffers {
  std::vector<KvSlices> fetched, gradients;   // [arrival]
  std::vector<std::optional<KvSlices>> sums;  // [arrival] of the rows that entered here and were passed on
  std::vector<KvSlices> parts;                // [relay out] gradients from the group that it went to
  std::vector<const Relay*> users;            // relays out: of own rows, then of those of each arrival
  std::vector<std::size_t> first_user;        // [1 + arrival], [0] of own rows; and the number of all
};

/// One member of one group: its program.
class Member {
 public:
  /// `lane[g]` = view of this member's counterpart in group g; queries[a] = own rows that see arrival a.
  Member(ProgramBuilder& builder, const std::vector<const View*>& lane, const View& view, const RelayPlan& plan,
         const GroupParts& group, const std::vector<TokenSetId>& queries, const RelayedExchangeRules& rules,
         MemberBuffers& buffers)
      : builder_(builder),
        lane_(lane),
        view_(view),
        plan_(plan),
        group_(group),
        relays_(group.relays),
        queries_(queries),
        rules_(rules),
        fetched_(buffers.fetched),
        gradients_(buffers.gradients),
        sums_(buffers.sums),
        parts_(buffers.parts),
        users_(buffers.users),
        first_user_(buffers.first_user) {
    const std::size_t arrivals = relays_.arrivals.size();
    fetched_.assign(arrivals, {}), gradients_.assign(arrivals, {}), sums_.assign(arrivals, {});
    parts_.assign(relays_.out.size(), {});
    for (const Arrival& arrival : relays_.arrivals) pieces_ += arrival.needed;
    find_users();
    make_room_for_program();
  }

  void forward() {
    OutputAccumulator output(builder_, view_, pieces_);
    make_room();
    fetch(Phase::forward, 0);
    if (holds_tokens()) output.attend(0, view_.tokens, own(view_.k), own(view_.v));
    for (int stage = 0; stage < plan_.stages; ++stage) {
      if (stage + 1 < plan_.stages) fetch(Phase::forward, stage + 1);
      for_each_arrival(stage, [&](std::size_t a) {
        if (relays_.arrivals[a].needed) output.attend(step_of(stage), queries_[a], fetched_[a].k, fetched_[a].v);
      });
    }
    if (holds_tokens()) output.finish(step_of(plan_.stages));
    lse_ = output.lse();
  }

  void backward() {
    const bool again = rules_.kv == KvForBackward::again;
    if (again) make_room();
    QueryGradientAccumulator d_q(builder_, view_, lse_, pieces_);
    const bool others_add = !users_of(Relay::kOwn).empty();
    if (holds_tokens())
      d_own_ = others_add ? new_gradients(DType::fp32, view_.tokens, "d_k sum", "d_v sum")
                          : KvSlices{own(view_.d_k), own(view_.d_v)};
    const auto local_part = [&] {
      if (holds_tokens()) d_q.attend(0, view_.tokens, own(view_.k), own(view_.v), d_own_.k, d_own_.v);
    };

    if (again) {  // in the order in which keys can come
      fetch(Phase::backward, 0);
      local_part();
      for (int stage = 0; stage < plan_.stages; ++stage) {
        if (stage + 1 < plan_.stages) fetch(Phase::backward, stage + 1);
        differentiate(stage, d_q);
        if (!plan_.passes_on) bring_home(stage);
      }
      if (plan_.passes_on)
        for (int stage = plan_.stages - 1; stage >= 0; --stage) bring_home(stage);
    } else {  // last stage first, for later stages may have taken rows of earlier ones on
      for (int stage = plan_.stages - 1; stage >= 0; --stage) {
        differentiate(stage, d_q);
        bring_home(stage);
      }
    }
    leave_node();
    if (!again) local_part();
    bring_home_leaving();
    if (!holds_tokens()) return;
    d_q.finish(step_of(plan_.stages));
    add_parts(users_of(Relay::kOwn), d_own_, step_of(plan_.stages));
    if (others_add)
      builder_.compute(view_.rank, Phase::backward, step_of(plan_.stages), copy(d_own_, {own(view_.d_k), own(view_.d_v)}));
  }

 private:
  /// About what the ops and buffers of both phases take: boundary, sums and local part, then what each piece, arrival, hop and
  /// relay adds.
  void make_room_for_program() {
    const std::size_t arrivals = relays_.arrivals.size();
    const auto hops = static_cast<std::size_t>(2 * plan_.stages - std::ranges::count(plan_.is_inside, true));
    builder_.reserve(view_.rank, 13 + 5 * pieces_ + 4 * arrivals + 2 * relays_.out.size(), 2 * pieces_ + hops,
                     2 * pieces_ + 3 * arrivals + 2 * hops + 4);
  }

  static int step_of(int stage) { return stage + 1; }
  bool holds_tokens() const { return !builder_.tokens(view_.tokens).empty(); }
  DType model_dtype() const { return builder_.shape().dtype; }
  DType wire_dtype() const { return rules_.d_kv.value_or(model_dtype()); }
  RankId counterpart(int group) const { return lane_[static_cast<std::size_t>(group)]->rank; }

  /// Of k, v, d_k or d_v.
  Slice own(BufferId buffer) const { return {buffer, view_.tokens, view_.kv_heads}; }
  Slice new_buffer(Role role, DType dtype, TokenSetId tokens, const char* called) {
    return {builder_.add_buffer(view_.rank, role, dtype, tokens, view_.kv_heads, called), tokens, view_.kv_heads};
  }
  KvSlices new_gradients(DType dtype, TokenSetId tokens, const char* d_k, const char* d_v) {
    return {new_buffer(Role::d_k, dtype, tokens, d_k), new_buffer(Role::d_v, dtype, tokens, d_v)};
  }

  template <class Visit>
  void for_each_arrival(int stage, const Visit& visit) const {
    for (const Arrival& arrival : group_.arrivals_of_stage.of(static_cast<std::size_t>(stage)))
      visit(static_cast<std::size_t>(&arrival - relays_.arrivals.data()));
  }

  /// Buffers for what comes here; what forward received stays for backward, unless it comes again.
  void make_room() {
    for (std::size_t a = 0; a < fetched_.size(); ++a) {
      const Arrival& arrival = relays_.arrivals[a];
      fetched_[a] = {new_buffer(Role::k, model_dtype(), arrival.rows, arrival.needed ? "k fetched" : "k passing"),
                     new_buffer(Role::v, model_dtype(), arrival.rows, arrival.needed ? "v fetched" : "v passing")};
    }
  }

  /// One message for each peer(relay), with slices(relay).
  template <class Slices, class Peer>
  PooledList<Message> messages(std::span<const Relay> relays, const Peer& peer, const Slices& slices) {
    PooledList<Message> result = builder_.messages();
    if (relays.empty()) return result;
    result.reserve(relays.size());
    for (const Relay& relay : relays) {
      const RankId rank = counterpart(peer(relay));
      if (result.empty() || result.back().peer != rank) result.emplace_back().peer = rank;
      const KvSlices kv = rows_of(slices(relay), relay.rows);
      result.back().parts.push_back(kv.k), result.back().parts.push_back(kv.v);
    }
    return result;
  }
  static int sender(const Relay& relay) { return relay.from; }
  static int receiver(const Relay& relay) { return relay.to; }
  std::span<const Relay> in_of(int stage, Hop hop) const { return group_.in_of_hop.of(GroupParts::key(stage, hop)); }
  std::span<const Relay> out_of(int stage, Hop hop) const { return group_.out_of_hop.of(GroupParts::key(stage, hop)); }

  /// Keys and values of a stage come here, and go where they are needed.
  void fetch(Phase phase, int stage) {
    const auto held = [&](const Relay& relay) {
      return relay.source == Relay::kOwn ? KvSlices{own(view_.k), own(view_.v)}
                                         : fetched_[static_cast<std::size_t>(relay.source)];
    };
    const auto room = [&](const Relay& relay) { return fetched_[static_cast<std::size_t>(relay.arrival)]; };
    for (const Hop hop : {Hop::inside, Hop::between, Hop::onward})
      builder_.add(view_.rank, phase, stream_of(hop), step_of(stage),
                   Exchange{messages(out_of(stage, hop), receiver, held), messages(in_of(stage, hop), sender, room)});
  }

  bool is_inside(int stage) const { return plan_.is_inside[static_cast<std::size_t>(stage)]; }

  /// Gradients of what came in a stage come together in the node, on their way back; those of the stage before leave it.
  void bring_home(int stage) {
    leave_node();
    if (is_inside(stage)) {
      if (plan_.stays_inside || stage > 0) send_back(stage, Hop::inside);
      return;
    }
    send_back(stage, Hop::onward);
    leaving_ = stage;
  }

  void leave_node() {
    if (!leaving_) return;
    sum_up(*leaving_);
    send_back(*leaving_, Hop::between);
    leaving_.reset();
  }

  /// Where there are several nodes, gradients from others may go back by the first stage, too: so it comes last.
  void bring_home_leaving() {
    if (plan_.stays_inside) return;
    sum_up(0);
    send_back(0, Hop::inside);
  }

  /// Gradients of what was fetched in a stage go back by the same hop; those of rows that went from here come back.
  void send_back(int stage, Hop hop) {
    const auto results = [&](const Relay& relay) {
      const auto arrival = static_cast<std::size_t>(relay.arrival);
      return sums_[arrival] ? *sums_[arrival] : gradients_[arrival];
    };
    const auto room = [&](const Relay& relay) {
      return part_of(relay) = new_gradients(wire_dtype(), relay.rows, "d_k part", "d_v part");
    };
    builder_.add(view_.rank, Phase::backward, stream_of(hop), step_of(stage),
                 Exchange{messages(in_of(stage, hop), sender, results), messages(out_of(stage, hop), receiver, room)});
  }

  void differentiate(int stage, QueryGradientAccumulator& d_q) {
    for_each_arrival(stage, [&](std::size_t a) {
      const Arrival& arrival = relays_.arrivals[a];
      if (!arrival.needed) return;
      gradients_[a] = new_gradients(wire_dtype(), arrival.rows, "d_k of fetched", "d_v of fetched");
      d_q.attend(step_of(stage), queries_[a], fetched_[a].k, fetched_[a].v, gradients_[a].k, gradients_[a].v);
    });
  }

  /// Where rows of a stage were passed on: the gradients of all who used them, in sums_.
  void sum_up(int stage) {
    const int step = step_of(stage);
    for_each_arrival(stage, [&](std::size_t a) {
      const Arrival& arrival = relays_.arrivals[a];
      const Users users = users_of(static_cast<int>(a));
      if (users.empty()) return;
      if (!arrival.needed && users.size() == 1 && users.front()->rows == arrival.entered) {  // nothing to add
        sums_[a] = part_of(*users.front());
        return;
      }
      const KvSlices sum = new_gradients(DType::fp32, arrival.entered, "d_k sum", "d_v sum");
      if (arrival.needed)
        builder_.compute(view_.rank, Phase::backward, step, copy(rows_of(gradients_[a], arrival.entered), sum));
      else
        builder_.compute(view_.rank, Phase::backward, step, Zero{{sum.k, sum.v}});
      add_parts(users, sum, step);
      sums_[a] = sum;
      if (wire_dtype() == DType::fp32) return;
      sums_[a] = new_gradients(wire_dtype(), arrival.entered, "d_k to send", "d_v to send");
      builder_.compute(view_.rank, Phase::backward, step, copy(sum, *sums_[a]));
    });
  }

  static KvSlices rows_of(KvSlices slices, TokenSetId rows) {
    slices.k.tokens = slices.v.tokens = rows;
    return slices;
  }
  static Copy copy(const KvSlices& from, const KvSlices& into) { return Copy{{{from.k, into.k}, {from.v, into.v}}}; }

  /// Where the gradients of a relay out come.
  KvSlices& part_of(const Relay& relay) { return parts_[static_cast<std::size_t>(&relay - relays_.out.data())]; }

  /// Relays by which rows went on from here, in the order of all.
  using Users = std::span<const Relay* const>;

  void find_users() {
    const auto place = [](const Relay& relay) { return static_cast<std::size_t>(relay.source - Relay::kOwn); };
    first_user_.assign(relays_.arrivals.size() + 2, 0);
    for (const Relay& relay : relays_.out) ++first_user_[place(relay)];
    std::partial_sum(first_user_.begin(), first_user_.end(), first_user_.begin());  // where those of each end
    users_.resize(relays_.out.size());
    for (auto relay = relays_.out.rbegin(); relay != relays_.out.rend(); ++relay)
      users_[--first_user_[place(*relay)]] = &*relay;
  }

  /// Of own rows, or of those of an arrival.
  Users users_of(int source) const {
    const auto place = static_cast<std::size_t>(source - Relay::kOwn);
    return Users(users_).subspan(first_user_[place], first_user_[place + 1] - first_user_[place]);
  }

  /// Gradients of the users' rows, added to `sum`.
  void add_parts(Users users, const KvSlices& sum, int step) {
    Accumulate add;
    add.terms.reserve(2 * users.size());
    for (const Relay* relay : users) {
      const KvSlices& part = part_of(*relay);
      add.terms.push_back({part.k, {sum.k.buffer, part.k.tokens, sum.k.heads}});
      add.terms.push_back({part.v, {sum.v.buffer, part.v.tokens, sum.v.heads}});
    }
    builder_.compute(view_.rank, Phase::backward, step, std::move(add));
  }

  ProgramBuilder& builder_;
  const std::vector<const View*>& lane_;
  const View& view_;
  const RelayPlan& plan_;
  const GroupParts& group_;
  const GroupRelays& relays_;
  const std::vector<TokenSetId>& queries_;
  const RelayedExchangeRules& rules_;
  std::size_t pieces_ = 1;          // of o, and as many of d_q: the local one and one per arrival that is needed
  std::vector<KvSlices>& fetched_;  // see MemberBuffers
  std::vector<KvSlices>& gradients_;
  std::vector<std::optional<KvSlices>>& sums_;
  std::vector<KvSlices>& parts_;
  std::vector<const Relay*>& users_;
  std::vector<std::size_t>& first_user_;
  std::optional<int> leaving_;  // stage whose gradients have come together in the node and leave it next
  KvSlices d_own_;
  std::optional<Slice> lse_;
};

}  // namespace

void relayed_exchange(ProgramBuilder& builder, const std::vector<std::vector<View>>& views,
                      const std::vector<int>& node_of_rank, const RelayedExchangeRules& rules) {
  const AttentionShape& shape = builder.shape();
  std::vector<TokenSetId> groups;
  std::vector<int> node_of_group;
  for (const std::vector<View>& group : views) {
    groups.push_back(group.front().tokens);
    node_of_group.push_back(node_of_rank[group.front().rank]);
  }
  const HeadRange kv_heads = views.front().front().kv_heads;
  const double bytes_of_row = kv_heads.size() * (shape.qk_dim + shape.v_dim) * bytes_per_element(shape.dtype);
  const auto least_rows = static_cast<Token>(std::ceil(rules.least_message_bytes / bytes_of_row));
  const RelayPlan plan = plan_relays(builder, groups, node_of_group, {rules.stages, least_rows, rules.in_rounds});

  std::vector<std::vector<const View*>> lanes(views.front().size());
  for (const std::vector<View>& group : views)
    for (std::size_t member = 0; member < group.size(); ++member) lanes[member].push_back(&group[member]);
  std::vector<TokenSetId> queries;
  std::vector<TokenRange> seeing;
  GroupParts parts;
  MemberBuffers buffers;
  for (std::size_t g = 0; g < views.size(); ++g) {
    parts.find(plan, g);
    queries.clear();
    for (const Arrival& arrival : parts.relays.arrivals) {
      seeing.clear();
      if (arrival.needed) builder.mask().queries_seeing(builder.tokens(arrival.rows), builder.tokens(groups[g]), seeing);
      queries.push_back(builder.intern(seeing));
    }
    for (std::size_t member = 0; member < lanes.size(); ++member) {
      Member program(builder, lanes[member], views[g][member], plan, parts, queries, rules, buffers);
      program.forward();
      program.backward();
      if (rules.ends_programs) builder.complete(views[g][member].rank);
    }
  }
}

}  // namespace hsap
