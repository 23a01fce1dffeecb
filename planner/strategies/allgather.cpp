// allgather: contiguous shards, all KV gathered on every rank (Llama 3, arXiv 2407.21783, section 3.3.2, as
// llama3_flash_attn_varlen does it): KV heads go in slices, the next slice is gathered while the present one computes; backward
// gathers again and reduce-scatters d_k, d_v in the model's dtype. The gather is hierarchical, as NCCL's is over many nodes:
// first among the ranks with the same place in their node (every NIC carries (W-1) KVb), then inside the node. Bytes sent per
// rank, KVb of one rank: forward (P-1) KVb, backward 2 (P-1) KVb.
#include <algorithm>

#include "planner/placement/placement.hpp"
#include "planner/strategies/degree_checks.hpp"
#include "planner/strategies/inner_attention.hpp"

namespace hsap {

namespace {

constexpr int kMostSlices =
    4;  // of the KV heads; llama3_flash_attn calls it heads_k_stride (ours: a quarter, where it divides)

/// The P ranks as W nodes of w ranks; one node of P when the nodes are uneven.
struct Grid {
  RankId ranks, per_node;
  RankId nodes() const { return ranks / per_node; }
  RankId rank(RankId node, RankId place) const { return node * per_node + place; }
};

class Gather {
 public:
  Gather(ProgramBuilder& builder, Grid grid) : builder_(builder), grid_(grid) {
    all_ = builder.intern(TokenSet{{0, builder.mask().tokens()}});
    for (RankId place = 0; place < grid.per_node; ++place) {
      std::vector<TokenRange> column;
      for (RankId node = 0; node < grid.nodes(); ++node)
        for (const TokenRange& range : builder.tokens(owned(grid.rank(node, place))).ranges()) column.push_back(range);
      columns_.push_back(builder.intern(TokenSet(std::move(column))));
    }
    const int kv_heads = builder.shape().kv_heads;
    int slices = std::min(kMostSlices, kv_heads);
    while (kv_heads % slices != 0) --slices;
    for (int slice = 0; slice < slices; ++slice)
      slices_.push_back({slice * kv_heads / slices, (slice + 1) * kv_heads / slices});
  }

  void lower_rank(RankId rank) {
    const View view = boundary_view(builder_, rank);
    const bool works = !builder_.tokens(view.tokens).empty();
    const TokenSetId needed = builder_.intern(builder_.mask().keys_seen_by(builder_.tokens(view.tokens)));
    const BufferId lse = builder_.add_buffer(rank, Role::lse, DType::fp32, view.tokens, view.query_heads, "lse");

    Gathered next = gather(Phase::forward, view, 0);
    for (std::size_t i = 0; i < slices_.size(); ++i) {
      const Gathered kv = next;
      if (i + 1 < slices_.size()) next = gather(Phase::forward, view, i + 1);
      if (!works) continue;
      const auto query = [&](BufferId buffer) { return Slice{buffer, view.tokens, query_heads(i)}; };
      builder_.compute(
          rank, Phase::forward, step(i),
          Attend{query(view.q), {kv.k, needed, slices_[i]}, {kv.v, needed, slices_[i]}, query(view.o), query(lse)});
    }

    next = gather(Phase::backward, view, 0);
    for (std::size_t i = 0; i < slices_.size(); ++i) {
      const Gathered kv = next;
      if (i + 1 < slices_.size()) next = gather(Phase::backward, view, i + 1);
      const auto gradient = [&](Role role) {
        return builder_.add_buffer(rank, role, builder_.shape().dtype, all_, slices_[i], to_string(role) + " of all");
      };
      const auto query = [&](BufferId buffer) { return Slice{buffer, view.tokens, query_heads(i)}; };
      const auto whole = [&](BufferId buffer) { return Slice{buffer, all_, slices_[i]}; };
      const Gathered d_kv{gradient(Role::d_k), gradient(Role::d_v)};
      builder_.compute(rank, Phase::backward, step(i),
                       AttendBackward{query(view.q), whole(kv.k), whole(kv.v), query(view.o), query(lse), query(view.d_o),
                                      query(view.d_q), whole(d_kv.k), whole(d_kv.v)});
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
    const HeadRange heads = slices_[i];
    const auto buffer = [&](Role role) {
      return builder_.add_buffer(view.rank, role, builder_.shape().dtype, all_, heads, to_string(role) + " of all");
    };
    const Gathered kv{buffer(Role::k), buffer(Role::v)};
    const auto rows = [&](TokenSetId tokens) { return std::vector<Slice>{{kv.k, tokens, heads}, {kv.v, tokens, heads}}; };
    builder_.compute(view.rank, phase, step(i),
                     Copy{{{{view.k, view.tokens, heads}, {kv.k, view.tokens, heads}},
                           {{view.v, view.tokens, heads}, {kv.v, view.tokens, heads}}}});
    Exchange across;
    for (const RankId peer : same_place(view.rank)) {
      builder_.add_message(across.sends, peer, {{view.k, view.tokens, heads}, {view.v, view.tokens, heads}});
      builder_.add_message(across.recvs, peer, rows(owned(peer)));
    }
    builder_.communicate(view.rank, phase, step(i), std::move(across));
    Exchange inside;
    for (const RankId peer : same_node(view.rank)) {
      builder_.add_message(inside.sends, peer, rows(column(view.rank)));
      builder_.add_message(inside.recvs, peer, rows(column(peer)));
    }
    builder_.communicate(view.rank, phase, step(i), std::move(inside));
    return kv;
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
              view.rank, builder_.add_buffer(view.rank, role, builder_.shape().dtype, mine, heads, to_string(role) + " part")));
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
  TokenSetId all_ = 0;
  std::vector<TokenSetId> columns_;  // [place in node] tokens of the ranks at that place
  std::vector<HeadRange> slices_;    // of the kv heads
};

class AllGather : public Strategy {
 public:
  std::string name() const override { return "allgather"; }
  std::string summary() const override { return "contiguous shards, all KV gathered by slices of heads"; }
  bool serves(AttentionKind kind) const override { return kind == AttentionKind::softmax; }
  std::vector<Degrees> degrees(const Problem& problem) const override { return {{1, problem.ranks}}; }

 private:
  Schedule compile(const Problem& problem, const Degrees& degrees, const StrategyOptions&) const override {
    ProgramBuilder builder(name(), degrees, problem, place_contiguous(problem.mask, problem.ranks));
    const auto ranks = static_cast<RankId>(problem.ranks);
    Gather gather(builder, {ranks, static_cast<RankId>(problem.uniform_ranks_per_node().value_or(problem.ranks))});
    for (RankId rank = 0; rank < ranks; ++rank) gather.lower_rank(rank);
    return builder.take();
  }
};

}  // namespace

const Strategy& allgather_strategy() {
  static const AllGather strategy;
  return strategy;
}

}  // namespace hsap
