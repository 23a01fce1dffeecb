#include "planner/strategies/needed_exchange.hpp"

#include <algorithm>
#include <numeric>

#include "planner/strategies/edge_colouring.hpp"

namespace hsap {

namespace {

// The head exchange runs inside a node too: on one stream with the fetches there, a rank never has two of them on its ports.
constexpr int kInsideNode = kCommunicationStream;
constexpr int kBetweenNodes = kCommunicationStream + 1;

/// Keys that group `to` fetches from group `from`.
struct Fetch {
  int from = 0;
  int to = 0;
  TokenSetId tokens = 0;
  int stream = kInsideNode;
  int round = 0;  // of its stream
  int stage = 0;
};

/// Who fetches what: for each group the keys its queries see and it does not hold, by owner. Works on intervals.
std::vector<Fetch> find_fetches(ProgramBuilder& builder, const std::vector<TokenSetId>& group_tokens) {
  struct Owned {
    TokenRange range;
    int group;
  };
  std::vector<Owned> owners;
  for (std::size_t g = 0; g < group_tokens.size(); ++g)
    for (const TokenRange& range : builder.tokens(group_tokens[g]).ranges()) owners.push_back({range, static_cast<int>(g)});
  std::sort(owners.begin(), owners.end(), [](const Owned& a, const Owned& b) { return a.range.begin < b.range.begin; });

  std::vector<Fetch> fetches;
  std::vector<std::vector<TokenRange>> wanted(group_tokens.size());  // by owner, of the group at hand
  std::vector<int> asked;                                            // owners with something in `wanted`
  for (std::size_t g = 0; g < group_tokens.size(); ++g) {
    const TokenSet& own = builder.tokens(group_tokens[g]);
    const TokenSet missing = difference(builder.mask().keys_seen_by(own), own);
    for (const TokenRange& range : missing.ranges()) {
      auto owner = std::upper_bound(owners.begin(), owners.end(), range.begin,
                                    [](Token token, const Owned& o) { return token < o.range.end; });
      for (; owner != owners.end() && owner->range.begin < range.end; ++owner) {
        auto& list = wanted[static_cast<std::size_t>(owner->group)];
        if (list.empty()) asked.push_back(owner->group);
        list.push_back({std::max(range.begin, owner->range.begin), std::min(range.end, owner->range.end)});
      }
    }
    for (const int from : asked) {
      auto& list = wanted[static_cast<std::size_t>(from)];
      fetches.push_back({from, static_cast<int>(g), builder.intern(TokenSet(std::move(list)))});
      list.clear();
    }
    asked.clear();
  }
  return fetches;
}

/// Gives the fetches of one stream rounds without contention, and splits the rounds into stages of about equal size.
void plan_rounds(const ProgramBuilder& builder, std::vector<Fetch*>& fetches, int groups, int stages) {
  const auto tokens = [&](const Fetch* fetch) { return builder.tokens(fetch->tokens).size(); };
  std::stable_sort(fetches.begin(), fetches.end(), [&](const Fetch* a, const Fetch* b) { return tokens(a) > tokens(b); });
  std::vector<MessageEdge> edges;
  for (const Fetch* fetch : fetches) edges.push_back({fetch->from, fetch->to});
  const std::vector<int> colours = colour_edges(edges, groups);

  std::vector<Token> length;  // of each round: its largest message
  for (std::size_t i = 0; i < fetches.size(); ++i) {
    fetches[i]->round = colours[i];
    const auto round = static_cast<std::size_t>(colours[i]);
    if (round >= length.size()) length.resize(round + 1, 0);
    length[round] = std::max(length[round], tokens(fetches[i]));
  }
  const Token total = std::accumulate(length.begin(), length.end(), Token{0});
  std::vector<int> stage_of(length.size());
  Token before = 0;
  for (std::size_t round = 0; round < length.size(); ++round) {
    stage_of[round] = static_cast<int>((before + length[round] / 2) * stages / total);  // by the middle of the round
    before += length[round];
  }
  for (Fetch* fetch : fetches) fetch->stage = stage_of[static_cast<std::size_t>(fetch->round)];
}

/// One member of one group: its program.
class Member {
 public:
  /// `lane[g]` = view of this member's counterpart in group g; `in`, `out` = fetches of this group by (stage, stream, round).
  Member(ProgramBuilder& builder, const std::vector<View>& lane, const View& view, const std::vector<const Fetch*>& in,
         const std::vector<const Fetch*>& out, const std::vector<TokenSetId>& stage_keys,
         const std::vector<TokenSetId>& stage_queries)
      : builder_(builder),
        lane_(lane),
        view_(view),
        in_(in),
        out_(out),
        stage_keys_(stage_keys),
        stage_queries_(stage_queries) {
    for (std::size_t stage = 0; stage < stage_keys.size(); ++stage) remote_pieces_ += has_keys(stage);
  }

  void forward() {
    for (std::size_t stage = 0; stage < stage_keys_.size(); ++stage) {
      k_.push_back(stage_buffer(Role::k, stage, "k fetched"));
      v_.push_back(stage_buffer(Role::v, stage, "v fetched"));
    }
    OutputAccumulator output(builder_, view_, 1 + remote_pieces_);
    if (!k_.empty()) fetch(0);
    if (holds_tokens()) output.attend(0, view_.tokens, whole(view_.k), whole(view_.v));
    for (std::size_t stage = 0; stage < k_.size(); ++stage) {
      if (stage + 1 < k_.size()) fetch(stage + 1);
      if (has_keys(stage)) output.attend(step_of(stage), stage_queries_[stage], k_[stage], v_[stage]);
    }
    if (holds_tokens()) output.finish(step_of(k_.size()));
    lse_ = output.lse();
  }

  void backward() {
    if (!holds_tokens()) return;
    QueryGradientAccumulator d_q(builder_, view_, lse_, 1 + remote_pieces_);
    arrivals_.resize(k_.size());
    for (std::size_t stage = 0; stage < k_.size(); ++stage) {
      if (!has_keys(stage)) {
        send_home(stage, {}, {});
        continue;
      }
      const Slice d_k = stage_buffer(Role::d_k, stage, "d_k of fetched");
      const Slice d_v = stage_buffer(Role::d_v, stage, "d_v of fetched");
      d_q.attend(step_of(stage), stage_queries_[stage], k_[stage], v_[stage], d_k, d_v);
      send_home(stage, d_k, d_v);
    }
    const bool others_add = !out_.empty();
    const auto sum = [&](Role role, BufferId result) {
      return others_add ? whole(builder_.add_buffer(view_.rank, role, DType::fp32, view_.tokens, view_.kv_heads,
                                                    to_string(role) + " sum"))
                        : whole(result);
    };
    const Slice d_k = sum(Role::d_k, view_.d_k);
    const Slice d_v = sum(Role::d_v, view_.d_v);
    d_q.attend(0, view_.tokens, whole(view_.k), whole(view_.v), d_k, d_v);
    d_q.finish(step_of(k_.size()));
    for (std::size_t stage = 0; stage < arrivals_.size(); ++stage)
      builder_.compute(view_.rank, Phase::backward, step_of(stage), sum_of(arrivals_[stage], d_k, d_v));
    if (others_add)
      builder_.compute(view_.rank, Phase::backward, step_of(k_.size()),
                       Copy{{{d_k, whole(view_.d_k)}, {d_v, whole(view_.d_v)}}});
  }

 private:
  /// Gradients of own keys that another group worked out.
  struct Arrival {
    Slice d_k, d_v;
  };

  static int step_of(std::size_t stage) { return static_cast<int>(stage) + 1; }
  bool holds_tokens() const { return !builder_.tokens(view_.tokens).empty(); }
  bool has_keys(std::size_t stage) const { return !builder_.tokens(stage_keys_[stage]).empty(); }
  Slice whole(BufferId buffer) const { return builder_.whole(view_.rank, buffer); }
  Slice stage_buffer(Role role, std::size_t stage, const char* name) {
    return whole(builder_.add_buffer(view_.rank, role, builder_.shape().dtype, stage_keys_[stage], view_.kv_heads, name));
  }
  RankId counterpart(int group) const { return lane_[static_cast<std::size_t>(group)].rank; }

  /// Calls post(stream, sends, recvs) for each round of the stage in which this group takes part, streams one after the other.
  template <class Post>
  void for_each_round(std::size_t stage, const Post& post) const {
    const auto of_stage = [&](const std::vector<const Fetch*>& fetches, int stream) {
      std::vector<const Fetch*> found;
      for (const Fetch* fetch : fetches)
        if (fetch->stage == static_cast<int>(stage) && fetch->stream == stream) found.push_back(fetch);
      return found;
    };
    for (const int stream : {kBetweenNodes, kInsideNode}) {
      const std::vector<const Fetch*> in = of_stage(in_, stream), out = of_stage(out_, stream);
      for (std::size_t i = 0, o = 0; i < in.size() || o < out.size();) {
        const int round = std::min(i < in.size() ? in[i]->round : out[o]->round, o < out.size() ? out[o]->round : in[i]->round);
        const Fetch* receive = i < in.size() && in[i]->round == round ? in[i++] : nullptr;
        const Fetch* send = o < out.size() && out[o]->round == round ? out[o++] : nullptr;
        post(stream, send, receive);
      }
    }
  }

  static Accumulate sum_of(const std::vector<Arrival>& arrivals, const Slice& d_k, const Slice& d_v) {
    Accumulate sum;
    sum.terms.reserve(2 * arrivals.size());
    for (const Arrival& arrival : arrivals) {
      sum.terms.push_back({arrival.d_k, {d_k.buffer, arrival.d_k.tokens, d_k.heads}});
      sum.terms.push_back({arrival.d_v, {d_v.buffer, arrival.d_v.tokens, d_v.heads}});
    }
    return sum;
  }

  void fetch(std::size_t stage) {
    for_each_round(stage, [&](int stream, const Fetch* send, const Fetch* receive) {
      Exchange exchange;
      if (send)
        builder_.add_message(
            exchange.sends, counterpart(send->to),
            {builder_.rows(view_.rank, view_.k, send->tokens), builder_.rows(view_.rank, view_.v, send->tokens)});
      if (receive)
        builder_.add_message(exchange.recvs, counterpart(receive->from),
                             {builder_.rows(view_.rank, k_[stage].buffer, receive->tokens),
                              builder_.rows(view_.rank, v_[stage].buffer, receive->tokens)});
      builder_.add(view_.rank, Phase::forward, stream, step_of(stage), std::move(exchange));
    });
  }

  /// The rounds of fetch(stage) with every message turned round.
  void send_home(std::size_t stage, const Slice& d_k, const Slice& d_v) {
    for_each_round(stage, [&](int stream, const Fetch* fetched_from_me, const Fetch* fetched_by_me) {
      Exchange exchange;
      if (fetched_by_me)
        builder_.add_message(exchange.sends, counterpart(fetched_by_me->from),
                             {{d_k.buffer, fetched_by_me->tokens, d_k.heads}, {d_v.buffer, fetched_by_me->tokens, d_v.heads}});
      if (fetched_from_me) {
        const auto part = [&](Role role) {
          return whole(builder_.add_buffer(view_.rank, role, builder_.shape().dtype, fetched_from_me->tokens, view_.kv_heads,
                                           role == Role::d_k ? "d_k part" : "d_v part"));
        };
        const Arrival arrival = arrivals_[stage].emplace_back(Arrival{part(Role::d_k), part(Role::d_v)});
        builder_.add_message(exchange.recvs, counterpart(fetched_from_me->to), {arrival.d_k, arrival.d_v});
      }
      builder_.add(view_.rank, Phase::backward, stream, step_of(stage), std::move(exchange));
    });
  }

  ProgramBuilder& builder_;
  const std::vector<View>& lane_;
  const View view_;
  const std::vector<const Fetch*>& in_;
  const std::vector<const Fetch*>& out_;
  const std::vector<TokenSetId>& stage_keys_;
  const std::vector<TokenSetId>& stage_queries_;
  std::size_t remote_pieces_ = 0;
  std::vector<Slice> k_, v_;                    // fetched, by stage
  std::vector<std::vector<Arrival>> arrivals_;  // by stage
  std::optional<Slice> lse_;
};

}  // namespace

void needed_exchange(ProgramBuilder& builder, const std::vector<std::vector<View>>& views, const std::vector<int>& node_of_rank,
                     int stages) {
  const std::size_t groups = views.size();
  std::vector<TokenSetId> group_tokens;
  for (const std::vector<View>& group : views) group_tokens.push_back(group.front().tokens);

  std::vector<Fetch> fetches = find_fetches(builder, group_tokens);
  std::vector<Fetch*> inside, between;
  for (Fetch& fetch : fetches) {
    const auto node = [&](int group) { return node_of_rank[views[static_cast<std::size_t>(group)].front().rank]; };
    fetch.stream = node(fetch.from) == node(fetch.to) ? kInsideNode : kBetweenNodes;
    (fetch.stream == kInsideNode ? inside : between).push_back(&fetch);
  }
  plan_rounds(builder, inside, static_cast<int>(groups), stages);
  plan_rounds(builder, between, static_cast<int>(groups), stages);
  std::sort(fetches.begin(), fetches.end(), [](const Fetch& a, const Fetch& b) {
    return std::tie(a.stage, a.stream, a.round) < std::tie(b.stage, b.stream, b.round);
  });

  std::vector<std::vector<const Fetch*>> in(groups), out(groups);
  for (const Fetch& fetch : fetches) {
    in[static_cast<std::size_t>(fetch.to)].push_back(&fetch);
    out[static_cast<std::size_t>(fetch.from)].push_back(&fetch);
  }
  std::vector<std::vector<View>> lanes(views.front().size());
  for (const std::vector<View>& group : views)
    for (std::size_t member = 0; member < group.size(); ++member) lanes[member].push_back(group[member]);

  for (std::size_t g = 0; g < groups; ++g) {
    std::vector<std::vector<TokenRange>> received(static_cast<std::size_t>(stages));
    for (const Fetch* fetch : in[g]) {
      const auto& ranges = builder.tokens(fetch->tokens).ranges();
      auto& stage = received[static_cast<std::size_t>(fetch->stage)];
      stage.insert(stage.end(), ranges.begin(), ranges.end());
    }
    std::vector<TokenSetId> stage_keys, stage_queries;
    for (std::vector<TokenRange>& ranges : received) {
      const TokenSet keys(std::move(ranges));
      stage_queries.push_back(
          builder.intern(intersection(builder.tokens(group_tokens[g]), builder.mask().queries_seeing(keys))));
      stage_keys.push_back(builder.intern(keys));
    }
    for (std::size_t member = 0; member < lanes.size(); ++member) {
      Member program(builder, lanes[member], views[g][member], in[g], out[g], stage_keys, stage_queries);
      program.forward();
      program.backward();
    }
  }
}

}  // namespace hsap
