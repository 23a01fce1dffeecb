#include "planner/strategies/joined_exchange.hpp"

#include <optional>
#include <utility>

#include "planner/strategies/move_plan.hpp"

namespace hsap {

namespace {

/// Rows that one rank fetches from another, or lends it.
struct Peer {
  RankId rank;
  TokenSetId keys;
};

/// The same by group.
struct GroupRows {
  std::size_t group;
  TokenSetId keys;
};

/// One rank's program.
class Joined {
 public:
  Joined(ProgramBuilder& builder, const View& view, std::vector<Peer> fetched, std::vector<Peer> lent,
         const JoinedExchangeRules& rules)
      : builder_(builder), view_(view), fetched_(std::move(fetched)), lent_(std::move(lent)), rules_(rules) {}

  void forward() {
    k_ = own(view_.k), v_ = own(view_.v);
    if (!fetched_.empty()) join();
    Exchange exchange;
    for (const Peer& peer : lent_)
      builder_.add_message(exchange.sends, peer.rank, {rows(own(view_.k), peer.keys), rows(own(view_.v), peer.keys)});
    for (const Peer& peer : fetched_)
      builder_.add_message(exchange.recvs, peer.rank, {rows(k_, peer.keys), rows(v_, peer.keys)});
    builder_.communicate(view_.rank, Phase::forward, 0, std::move(exchange));
    if (!holds_tokens()) return;
    OutputAccumulator output(builder_, view_, 1);
    output.attend(0, view_.tokens, k_, v_);
    output.finish(0);
    lse_ = output.lse();
  }

  void backward() {
    if (!holds_tokens()) return;
    const bool joined = !fetched_.empty();
    const Slice d_k = joined ? new_buffer(Role::d_k, rules_.d_kv, k_.tokens, "d_k joined") : own(view_.d_k);
    const Slice d_v = joined ? new_buffer(Role::d_v, rules_.d_kv, v_.tokens, "d_v joined") : own(view_.d_v);
    QueryGradientAccumulator d_q(builder_, view_, lse_, 1);
    d_q.attend(0, view_.tokens, k_, v_, d_k, d_v);
    d_q.finish(0);

    Exchange exchange;
    Accumulate parts;
    const bool apart = !lent_.empty() && dtype_of(d_k) != rules_.sum;
    const Slice sum_k = apart ? new_buffer(Role::d_k, rules_.sum, view_.tokens, "d_k sum") : rows(d_k, view_.tokens);
    const Slice sum_v = apart ? new_buffer(Role::d_v, rules_.sum, view_.tokens, "d_v sum") : rows(d_v, view_.tokens);
    for (const Peer& peer : fetched_)
      builder_.add_message(exchange.sends, peer.rank, {rows(d_k, peer.keys), rows(d_v, peer.keys)});
    for (const Peer& peer : lent_) {
      const Slice part_k = new_buffer(Role::d_k, rules_.d_kv, peer.keys, "d_k part");
      const Slice part_v = new_buffer(Role::d_v, rules_.d_kv, peer.keys, "d_v part");
      builder_.add_message(exchange.recvs, peer.rank, {part_k, part_v});
      parts.terms.push_back({part_k, rows(sum_k, peer.keys)});
      parts.terms.push_back({part_v, rows(sum_v, peer.keys)});
    }
    builder_.communicate(view_.rank, Phase::backward, 0, std::move(exchange));
    copy(Phase::backward, {{rows(d_k, view_.tokens), sum_k}, {rows(d_v, view_.tokens), sum_v}});
    builder_.compute(view_.rank, Phase::backward, 1, std::move(parts));
    copy(Phase::backward, {{sum_k, own(view_.d_k)}, {sum_v, own(view_.d_v)}});
  }

 private:
  bool holds_tokens() const { return !builder_.tokens(view_.tokens).empty(); }
  Slice own(BufferId buffer) const { return builder_.rows(view_.rank, buffer, view_.tokens); }
  static Slice rows(const Slice& slice, TokenSetId tokens) { return {slice.buffer, tokens, slice.heads}; }
  DType dtype_of(const Slice& slice) const { return builder_.program(view_.rank).buffers[slice.buffer].dtype; }
  Slice new_buffer(Role role, DType dtype, TokenSetId tokens, const char* name) {
    return builder_.whole(view_.rank, builder_.add_buffer(view_.rank, role, dtype, tokens, view_.kv_heads, name));
  }

  /// Room for own and fetched keys and values in one buffer each, with the own ones in it.
  void join() {
    TokenSet all = builder_.tokens(view_.tokens);
    for (const Peer& peer : fetched_) all = set_union(all, builder_.tokens(peer.keys));
    const TokenSetId tokens = builder_.intern(all);
    k_ = new_buffer(Role::k, builder_.shape().dtype, tokens, "k joined");
    v_ = new_buffer(Role::v, builder_.shape().dtype, tokens, "v joined");
    copy(Phase::forward, {{own(view_.k), rows(k_, view_.tokens)}, {own(view_.v), rows(v_, view_.tokens)}});
  }

  /// Without the terms that would copy a buffer into itself.
  void copy(Phase phase, TransferList terms) {
    const auto in_place = [](const Transfer& term) { return term.from == term.into; };
    terms.erase(std::remove_if(terms.begin(), terms.end(), in_place), terms.end());
    builder_.compute(view_.rank, phase, 1, Copy{std::move(terms)});
  }

  ProgramBuilder& builder_;
  const View view_;
  const std::vector<Peer> fetched_, lent_;
  const JoinedExchangeRules rules_;
  Slice k_, v_;  // all that the rank attends to
  std::optional<Slice> lse_;
};

std::vector<Peer> peers(const std::vector<GroupRows>& rows, const std::vector<std::vector<View>>& views, std::size_t member) {
  std::vector<Peer> result;
  for (const GroupRows& of_group : rows) result.push_back({views[of_group.group][member].rank, of_group.keys});
  return result;
}

}  // namespace

void joined_exchange(ProgramBuilder& builder, const std::vector<std::vector<View>>& views, const JoinedExchangeRules& rules) {
  std::vector<TokenSet> groups;
  for (const std::vector<View>& group : views) groups.push_back(builder.tokens(group.front().tokens));
  std::vector<std::vector<GroupRows>> fetched(groups.size()), lent(groups.size());  // by the other group, ascending
  for_each_need(builder.mask(), groups, [&](const Need& need) {
    const auto to = static_cast<std::size_t>(need.query_group), from = static_cast<std::size_t>(need.key_group);
    const TokenSetId keys = builder.intern(need.keys);
    fetched[to].push_back({from, keys});
    lent[from].push_back({to, keys});
  });
  for (std::size_t group = 0; group < groups.size(); ++group) {
    for (std::size_t member = 0; member < views[group].size(); ++member) {
      Joined program(builder, views[group][member], peers(fetched[group], views, member), peers(lent[group], views, member),
                     rules);
      program.forward();
      program.backward();
    }
  }
}

}  // namespace hsap
