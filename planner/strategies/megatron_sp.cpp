// megatron-sp: tensor parallelism with sequence parallelism (Korthikanti et al. 2022, arXiv 2205.05198): activations are
// gathered before a head-split attention and reduce-scattered behind it, whatever the documents. Megatron gathers x, [tokens,
// hidden], and each rank projects q, k, v of its heads from it; behind attention each rank's share of the output projection is
// a partial sum of hidden width. A Schedule starts behind the first projection and ends before the second, so here q stands for
// x: all its heads travel, though a rank needs its own only; k and v of a rank's heads come straight from their owners; and o,
// which the other ranks' heads fill with zeros, stands for the partial sum. Backward gathers d_o and reduce-scatters d_q alike.
// Bytes sent per rank, hidden = query heads x head dim: forward 2 (P-1) Qb, the attention's half of Megatron's 4 (P-1) Qb per
// layer (the MLP has the other half), + (P-1)/P rho KVb that Megatron does not send; backward the same, + (P-1) Qb + (P-1)/P
// rho KVb when the inputs are gathered again (option kv).
#include "planner/placement/placement.hpp"
#include "planner/strategies/degree_checks.hpp"
#include "planner/strategies/head_exchange.hpp"

namespace hsap {

namespace {

class Activations {
 public:
  Activations(ProgramBuilder& builder, const HeadExchange& heads) : builder_(builder), views_(heads.views()) {}

  /// All rows and heads of q or d_o go to every rank; its own heads of them into the view.
  void gather(Phase phase, Role role) {
    for (const View& mine : views_) {
      const BufferId own = role == Role::q ? boundary(mine).q : boundary(mine).d_o;
      const BufferId by_heads = role == Role::q ? mine.q : mine.d_o;
      const TokenSetId others = builder_.intern(difference(builder_.tokens(mine.tokens), builder_.tokens(owned(mine))));
      const BufferId received = full_width(mine, role, others);
      Exchange exchange;
      for (const View& peer : views_) {
        if (peer.rank == mine.rank) continue;
        builder_.add_message(exchange.sends, peer.rank, {builder_.whole(mine.rank, own)});
        builder_.add_message(exchange.recvs, peer.rank, {builder_.rows(mine.rank, received, owned(peer))});
      }
      builder_.communicate(mine.rank, phase, 0, std::move(exchange));
      const auto take = [&](BufferId from, TokenSetId rows) {
        return Transfer{{from, rows, mine.query_heads}, {by_heads, rows, mine.query_heads}};
      };
      builder_.compute(mine.rank, phase, 0, Copy{{take(own, owned(mine)), take(received, others)}});
    }
  }

  /// The sum over the ranks of o or d_q, zeros outside a rank's heads, each rank keeping its own rows.
  void reduce_scatter(Phase phase, Role role) {
    for (const View& mine : views_) {
      const BufferId by_heads = role == Role::o ? mine.o : mine.d_q;
      const Slice sum = builder_.whole(mine.rank, role == Role::o ? boundary(mine).o : boundary(mine).d_q);
      const BufferId partial = full_width(mine, role, mine.tokens);
      const auto part = [&](HeadRange heads) { return Slice{partial, mine.tokens, heads}; };
      Zero zero;
      if (mine.query_heads.begin > 0) zero.slices.push_back(part({0, mine.query_heads.begin}));
      if (mine.query_heads.end < sum.heads.end) zero.slices.push_back(part({mine.query_heads.end, sum.heads.end}));
      if (!zero.slices.empty()) builder_.compute(mine.rank, phase, 1, std::move(zero));
      builder_.compute(mine.rank, phase, 1, Copy{{{builder_.whole(mine.rank, by_heads), part(mine.query_heads)}}});
      Exchange exchange;
      Accumulate add;
      for (const View& peer : views_) {
        if (peer.rank == mine.rank) continue;
        builder_.add_message(exchange.sends, peer.rank, {builder_.rows(mine.rank, partial, owned(peer))});
        const Slice theirs = builder_.whole(
            mine.rank, builder_.add_buffer(mine.rank, role, builder_.shape().dtype, owned(mine), sum.heads, "partial sum"));
        builder_.add_message(exchange.recvs, peer.rank, {theirs});
        add.terms.push_back({theirs, sum});
      }
      builder_.communicate(mine.rank, phase, 1, std::move(exchange));
      builder_.compute(mine.rank, phase, 1, Copy{{{builder_.rows(mine.rank, partial, owned(mine)), sum}}});
      builder_.compute(mine.rank, phase, 1, std::move(add));
    }
  }

 private:
  View boundary(const View& view) const { return boundary_view(builder_, view.rank); }
  TokenSetId owned(const View& view) const { return builder_.program(view.rank).tokens; }
  BufferId full_width(const View& view, Role role, TokenSetId tokens) {
    return builder_.add_buffer(view.rank, role, builder_.shape().dtype, tokens, {0, builder_.shape().query_heads},
                               to_string(role) + " of all");
  }

  ProgramBuilder& builder_;
  const std::vector<View>& views_;
};

class MegatronSp : public Strategy {
 public:
  std::string name() const override { return "megatron-sp"; }
  std::string summary() const override { return "activations gathered and scattered around head-split attention"; }
  bool serves(AttentionKind kind) const override { return kind == AttentionKind::softmax; }
  std::vector<std::string> options() const override { return {"kv"}; }
  std::vector<Degrees> degrees(const Problem& problem) const override {
    if (refuse_head_degree(problem, problem.ranks)) return {};
    return {{problem.ranks, 1}};
  }

 private:
  Schedule compile(const Problem& problem, const Degrees& degrees, const StrategyOptions& options) const override {
    ProgramBuilder builder(name(), degrees, problem, place_contiguous(problem.mask, problem.ranks));
    HeadExchange heads(builder, 0, degrees.intra,
                       {Role::q, Role::k, Role::v, Role::o, Role::d_o, Role::d_q, Role::d_k, Role::d_v});
    Activations activations(builder, heads);
    const auto gather_inputs = [&](Phase phase) {
      activations.gather(phase, Role::q);
      heads.scatter(phase, {Role::k, Role::v});
    };
    gather_inputs(Phase::forward);
    if (options.kv == KvForBackward::again) gather_inputs(Phase::backward);
    activations.gather(Phase::backward, Role::d_o);
    for (const View& view : heads.views()) attend_locally(builder, view);
    activations.reduce_scatter(Phase::forward, Role::o);
    activations.reduce_scatter(Phase::backward, Role::d_q);
    if (heads.replicates_kv())
      heads.sum_kv_gradients();
    else
      heads.gather(Phase::backward, {Role::d_k, Role::d_v});
    return builder.take();
  }
};

}  // namespace

const Strategy& megatron_sp_strategy() {
  static const MegatronSp strategy;
  return strategy;
}

}  // namespace hsap
