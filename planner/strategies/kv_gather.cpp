#include "planner/strategies/kv_gather.hpp"

#include <algorithm>

namespace hsap {

namespace {

/// The P ranks as W nodes of w ranks; one node of P when the nodes are uneven.
struct Grid {
  RankId ranks, per_node;
  RankId nodes() const { return ranks / per_node; }
  RankId rank(RankId node, RankId place) const { return node * per_node + place; }
};

class Gather {
 public:
  Gather(ProgramBuilder& builder, Grid grid, const GatherRules& rules) : builder_(builder), grid_(grid), rules_(rules) {
    all_ = builder.intern(TokenSet{{0, builder.mask().tokens()}});
    for (RankId place = 0; place < grid.per_node; ++place) {
      std::vector<TokenRange> column;
      for (RankId node = 0; node < grid.nodes(); ++node)
        for (const TokenRange& range : builder.tokens(owned(grid.rank(node, place))).ranges()) column.push_back(range);
      columns_.push_back(builder.intern(TokenSet(std::move(column))));
    }
    const int kv_heads = builder.shape().kv_heads;
    int slices = std::min(rules.slices, kv_heads);
    while (kv_heads % slices != 0) --slices;
    for (int slice = 0; slice < slices; ++slice)
      slices_.push_back({slice * kv_heads / slices, (slice + 1) * kv_heads / slices});
  }

  void lower_rank(RankId rank) {
    const View view = boundary_view(builder_, rank);
    const bool works = !builder_.tokens(view.tokens).empty();
    const TokenSetId needed = builder_.intern(builder_.mask().keys_seen_by(builder_.tokens(view.tokens)));
    const BufferId lse = builder_.add_buffer(rank, Role::lse, DType::fp32, view.tokens, view.query_heads, "lse");

    std::vector<Gathered> gathered{gather(Phase::forward, view, 0)};
    for (std::size_t i = 0; i < slices_.size(); ++i) {
      if (i + 1 < slices_.size()) gathered.push_back(gather(Phase::forward, view, i + 1));
      if (!works) continue;
      const auto query = [&](BufferId buffer) { return Slice{buffer, view.tokens, query_heads(i)}; };
      builder_.compute(rank, Phase::forward, step(i),
                       Attend{query(view.q),
                              {gathered[i].k, needed, slices_[i]},
                              {gathered[i].v, needed, slices_[i]},
                              query(view.o),
                              query(lse)});
    }

    if (!rules_.keep_kv) gathered = {gather(Phase::backward, view, 0)};
    for (std::size_t i = 0; i < slices_.size(); ++i) {
      if (!rules_.keep_kv && i + 1 < slices_.size()) gathered.push_back(gather(Phase::backward, view, i + 1));
      const auto gradient = [&](Role role) {
        return builder_.add_buffer(rank, role, rules_.gradient, all_, slices_[i], to_string(role) + " of all");
      };
      const auto query = [&](BufferId buffer) { return Slice{buffer, view.tokens, query_heads(i)}; };
      const auto whole = [&](BufferId buffer) { return Slice{buffer, all_, slices_[i]}; };
      const Gathered d_kv{gradient(Role::d_k), gradient(Role::d_v)};
      builder_.compute(rank, Phase::backward, step(i),
                       AttendBackward{query(view.q), whole(gathered[i].k), whole(gathered[i].v), query(view.o), query(lse),
                                      query(view.d_o), query(view.d_q), whole(d_kv.k), whole(d_kv.v)});
      reduce_scatter(view, i, d_kv);
    }
  }

 private:
  struct Gathered {
    BufferId k, v;
  };

  static int step(std::size_t slice) { return static_cast<int>(slice); }
  TokenSetId owned(RankId rank) const { return builder_.program(rank).tokens; }
  HeadRange query_heads(std::size_t slice) const {
    const int group = builder_.shape().queries_per_kv_head();
    return {slices_[slice].begin * group, slices_[slice].end * group};
  }

  std::vector<RankId> same_place(RankId rank) const {
    std::vector<RankId> peers;
    for (RankId node = 0; node < grid_.nodes(); ++node)
      if (const RankId peer = grid_.rank(node, rank % grid_.per_node); peer != rank) peers.push_back(peer);
    return peers;
  }
  std::vector<RankId> same_node(RankId rank) const {
    std::vector<RankId> peers;
    for (RankId place = 0; place < grid_.per_node; ++place)
      if (const RankId peer = grid_.rank(rank / grid_.per_node, place); peer != rank) peers.push_back(peer);
    return peers;
  }
  TokenSetId column(RankId rank) const { return columns_[rank % grid_.per_node]; }

  Gathered gather(Phase phase, const View& view, std::size_t i) {
    const auto buffer = [&](Role role) {
      return builder_.add_buffer(view.rank, role, builder_.shape().dtype, all_, slices_[i], to_string(role) + " of all");
    };
    const Gathered kv{buffer(Role::k), buffer(Role::v)};
    if (rules_.k_before_v) {
      gather(phase, view, i, {{view.k, kv.k}});
      gather(phase, view, i, {{view.v, kv.v}});
    } else {
      gather(phase, view, i, {{view.k, kv.k}, {view.v, kv.v}});
    }
    return kv;
  }

  /// One tensor of a rank and the buffer in which all its rows come together.
  struct OwnAndAll {
    BufferId own, all;
  };

  void gather(Phase phase, const View& view, std::size_t i, const std::vector<OwnAndAll>& tensors) {
    const HeadRange heads = slices_[i];
    const auto slices = [&](BufferId OwnAndAll::*which, TokenSetId tokens) {
      std::vector<Slice> parts;
      for (const OwnAndAll& tensor : tensors) parts.push_back({tensor.*which, tokens, heads});
      return parts;
    };
    Copy own;
    for (const OwnAndAll& tensor : tensors)
      own.terms.push_back({{tensor.own, view.tokens, heads}, {tensor.all, view.tokens, heads}});
    builder_.compute(view.rank, phase, step(i), std::move(own));
    Exchange across;
    for (const RankId peer : same_place(view.rank)) {
      builder_.add_message(across.sends, peer, slices(&OwnAndAll::own, view.tokens));
      builder_.add_message(across.recvs, peer, slices(&OwnAndAll::all, owned(peer)));
    }
    builder_.communicate(view.rank, phase, step(i), std::move(across));
    Exchange inside;
    for (const RankId peer : same_node(view.rank)) {
      builder_.add_message(inside.sends, peer, slices(&OwnAndAll::all, column(view.rank)));
      builder_.add_message(inside.recvs, peer, slices(&OwnAndAll::all, column(peer)));
    }
    builder_.communicate(view.rank, phase, step(i), std::move(inside));
  }

  /// The gather turned round: partial sums of a column go to its rank in the node and are added there, then each block goes
  /// home.
  void reduce_scatter(const View& view, std::size_t i, const Gathered& d_kv) {
    const HeadRange heads = slices_[i];
    const auto rows = [&](TokenSetId tokens) { return std::vector<Slice>{{d_kv.k, tokens, heads}, {d_kv.v, tokens, heads}}; };
    const auto reduce = [&](const std::vector<RankId>& peers, TokenSetId mine, const auto& theirs) {
      Exchange exchange;
      std::vector<Accumulate> sums;
      for (const RankId peer : peers) {
        builder_.add_message(exchange.sends, peer, rows(theirs(peer)));
        std::vector<Slice> parts;
        for (const Role role : {Role::d_k, Role::d_v})
          parts.push_back(builder_.whole(
              view.rank, builder_.add_buffer(view.rank, role, rules_.gradient, mine, heads, to_string(role) + " part")));
        builder_.add_message(exchange.recvs, peer, parts);
        sums.push_back({{{parts[0], {d_kv.k, mine, heads}}, {parts[1], {d_kv.v, mine, heads}}}});
      }
      builder_.communicate(view.rank, Phase::backward, step(i), std::move(exchange));
      for (Accumulate& sum : sums) builder_.compute(view.rank, Phase::backward, step(i), std::move(sum));
    };
    reduce(same_node(view.rank), column(view.rank), [&](RankId peer) { return column(peer); });
    reduce(same_place(view.rank), view.tokens, [&](RankId peer) { return owned(peer); });
    builder_.compute(view.rank, Phase::backward, step(i),
                     Copy{{{{d_kv.k, view.tokens, heads}, {view.d_k, view.tokens, heads}},
                           {{d_kv.v, view.tokens, heads}, {view.d_v, view.tokens, heads}}}});
  }

  ProgramBuilder& builder_;
  const Grid grid_;
  const GatherRules rules_;
  TokenSetId all_ = 0;
  std::vector<TokenSetId> columns_;  // [place in node] tokens of the ranks at that place
  std::vector<HeadRange> slices_;    // of the kv heads
};

}  // namespace

void gather_attention(ProgramBuilder& builder, const Problem& problem, const GatherRules& rules) {
  const auto ranks = static_cast<RankId>(problem.ranks);
  Gather gather(builder, {ranks, static_cast<RankId>(problem.uniform_ranks_per_node().value_or(problem.ranks))}, rules);
  for (RankId rank = 0; rank < ranks; ++rank) gather.lower_rank(rank);
}

}  // namespace hsap
