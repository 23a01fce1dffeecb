#include "planner/strategies/head_exchange.hpp"

#include <algorithm>
#include <numeric>

namespace hsap {

std::vector<TokenSet> split_rows(const TokenSet& tokens, int parts) {
  std::vector<TokenSet> result;
  std::size_t range = 0;
  Token used = 0;  // of ranges()[range]
  for (Token part = 0; part < parts; ++part) {
    Token wanted = tokens.size() * (part + 1) / parts - tokens.size() * part / parts;
    std::vector<TokenRange> rows;
    while (wanted > 0) {
      const TokenRange& whole = tokens.ranges()[range];
      const Token taken = std::min(wanted, whole.size() - used);
      rows.push_back({whole.begin + used, whole.begin + used + taken});
      wanted -= taken;
      used += taken;
      if (used == whole.size()) ++range, used = 0;
    }
    result.emplace_back(std::move(rows));
  }
  return result;
}

namespace {

BufferId View::*member_of(Role role) {
  switch (role) {
    case Role::q:
      return &View::q;
    case Role::k:
      return &View::k;
    case Role::v:
      return &View::v;
    case Role::o:
      return &View::o;
    case Role::d_o:
      return &View::d_o;
    case Role::d_q:
      return &View::d_q;
    case Role::d_k:
      return &View::d_k;
    default:
      return &View::d_v;
  }
}

BufferId buffer(const View& view, Role role) { return view.*member_of(role); }

std::string list(const std::vector<int>& numbers, const std::string& prefix = "") {
  std::string text;
  for (const int number : numbers) text += (text.empty() ? "" : ", ") + prefix + std::to_string(number);
  return text;
}

}  // namespace

HeadExchange::HeadExchange(ProgramBuilder& builder, RankId first, int members, const std::vector<Role>& roles)
    : builder_(&builder) {
  std::vector<TokenRange> all;
  for (int member = 0; member < members; ++member) {
    const Ranges ranges = builder.tokens(builder.program(first + static_cast<RankId>(member)).tokens).ranges();
    all.insert(all.end(), ranges.begin(), ranges.end());
  }
  const TokenSetId tokens = builder.intern(TokenSet(std::move(all)));
  const int heads_in_all = builder.shape().query_heads;
  for (int member = 0; member < members; ++member) {
    View view;
    view.rank = first + static_cast<RankId>(member);
    view.tokens = tokens;
    view.query_heads = {member * heads_in_all / members, (member + 1) * heads_in_all / members};
    view.kv_heads = kv_heads_of(builder.shape(), view.query_heads);
    for (const Role role : roles)
      view.*member_of(role) =
          builder.add_buffer(view.rank, role, builder.shape().dtype, tokens, heads(view, role), to_string(role) + " by heads");
    views_.push_back(view);
  }
}

bool HeadExchange::replicates_kv() const {
  for (std::size_t member = 1; member < views_.size(); ++member)
    if (views_[member].kv_heads.begin < views_[member - 1].kv_heads.end) return true;
  return false;
}

void HeadExchange::scatter(Phase phase, const std::vector<Role>& roles) {
  for (const View& mine : views_) {
    const View boundary = boundary_view(*builder_, mine.rank);
    const auto from = [&](Role role, const View& to) { return Slice{buffer(boundary, role), owned(mine), heads(to, role)}; };
    const auto into = [&](Role role, const View& source) {
      return Slice{buffer(mine, role), owned(source), heads(mine, role)};
    };
    move(phase, mine, roles, from, into);
  }
}

void HeadExchange::gather(Phase phase, const std::vector<Role>& roles) {
  for (const View& mine : views_) {
    const View boundary = boundary_view(*builder_, mine.rank);
    const auto from = [&](Role role, const View& to) { return Slice{buffer(mine, role), owned(to), heads(mine, role)}; };
    const auto into = [&](Role role, const View& source) {
      return Slice{buffer(boundary, role), owned(mine), heads(source, role)};
    };
    move(phase, mine, roles, from, into);
  }
}

/// Sends from(role, peer) to each peer, receives into(role, peer) from each, copies the rank's own share.
template <class From, class Into>
void HeadExchange::move(Phase phase, const View& mine, const std::vector<Role>& roles, const From& from, const Into& into) {
  Copy own;
  Exchange exchange;
  for (const View& peer : views_) {
    std::vector<Slice> out, in;
    for (const Role role : roles) out.push_back(from(role, peer)), in.push_back(into(role, peer));
    if (peer.rank == mine.rank) {
      for (std::size_t i = 0; i < roles.size(); ++i) own.terms.push_back({out[i], in[i]});
    } else {
      builder_->add_message(exchange.sends, peer.rank, std::move(out));
      builder_->add_message(exchange.recvs, peer.rank, std::move(in));
    }
  }
  builder_->communicate(mine.rank, phase, 0, std::move(exchange));
  builder_->compute(mine.rank, phase, 0, std::move(own));
}

void HeadExchange::sum_kv_gradients() {
  for (const View& mine : views_) sum_parts(mine);
}

void HeadExchange::sum_parts(const View& mine) {
  const View boundary = boundary_view(*builder_, mine.rank);
  Exchange exchange;
  Copy first;
  std::vector<Accumulate> rest;
  int started_to = 0;  // kv heads below have a term in the sum
  Copy finish;
  std::vector<Slice> sums;
  for (const Role role : {Role::d_k, Role::d_v}) {
    const BufferId sum = builder_->add_buffer(mine.rank, role, DType::fp32, owned(mine), {0, builder_->shape().kv_heads},
                                              to_string(role) + " sum");
    sums.push_back(builder_->whole(mine.rank, sum));
    finish.terms.push_back({sums.back(), builder_->whole(mine.rank, buffer(boundary, role))});
  }
  for (const View& peer : views_) {
    std::vector<Slice> out, in;
    for (const Role role : {Role::d_k, Role::d_v}) {
      out.push_back({buffer(mine, role), owned(peer), mine.kv_heads});
      in.push_back(peer.rank == mine.rank
                       ? Slice{buffer(mine, role), owned(mine), mine.kv_heads}
                       : builder_->whole(mine.rank, builder_->add_buffer(mine.rank, role, builder_->shape().dtype, owned(mine),
                                                                         peer.kv_heads, to_string(role) + " part")));
    }
    // Members come in the order of their heads, so the heads that another one has started are the first of this one's.
    const int fresh = std::max(peer.kv_heads.begin, started_to);
    Accumulate add;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const auto term = [&](HeadRange range) {
        return Transfer{{in[i].buffer, in[i].tokens, range}, {sums[i].buffer, sums[i].tokens, range}};
      };
      if (peer.kv_heads.begin < fresh) add.terms.push_back(term({peer.kv_heads.begin, fresh}));
      if (fresh < peer.kv_heads.end) first.terms.push_back(term({fresh, peer.kv_heads.end}));
    }
    started_to = peer.kv_heads.end;
    if (!add.terms.empty()) rest.push_back(std::move(add));
    if (peer.rank != mine.rank) {
      builder_->add_message(exchange.sends, peer.rank, std::move(out));
      builder_->add_message(exchange.recvs, peer.rank, std::move(in));
    }
  }
  builder_->communicate(mine.rank, Phase::backward, 1, std::move(exchange));
  builder_->compute(mine.rank, Phase::backward, 1, std::move(first));
  for (Accumulate& add : rest) builder_->compute(mine.rank, Phase::backward, 1, std::move(add));
  builder_->compute(mine.rank, Phase::backward, 1, std::move(finish));
}

std::optional<std::string> refuse_head_degree(const Problem& problem, int degree) {
  const AttentionShape& shape = problem.shape;
  if (problem.ragged_heads) {
    if (degree <= shape.query_heads) return std::nullopt;
    return std::to_string(shape.query_heads) + " heads are fewer than head-parallel degree " + std::to_string(degree);
  }
  const auto works = [&](int u) { return shape.query_heads % u == 0 && (shape.kv_heads % u == 0 || u % shape.kv_heads == 0); };
  if (works(degree)) return std::nullopt;
  std::vector<int> plain, replicated, copies;
  for (int u = 1; u <= shape.query_heads; ++u) {
    if (!works(u)) continue;
    const bool replicates = shape.kv_heads % u != 0;
    (replicates ? replicated : plain).push_back(u);
    if (replicates) copies.push_back(u / shape.kv_heads);
  }
  std::string text =
      shape.query_heads % degree != 0
          ? std::to_string(shape.query_heads) + " heads not divisible by head-parallel degree " + std::to_string(degree)
          : std::to_string(shape.kv_heads) + " kv heads cannot be shared out over head-parallel degree " +
                std::to_string(degree);
  text += "; valid degrees " + list(plain);
  if (!replicated.empty()) text += " (" + list(replicated) + " with KV replication " + list(copies, "x") + ")";
  if (degree <= shape.query_heads) text += "; or ragged heads";
  return text;
}

void with_head_exchange(ProgramBuilder& builder, const Degrees& degrees, const InnerAttention& inner) {
  if (degrees.intra == 1) return inner(builder, groups_of_one(builder));
  const std::vector<Role> roles{Role::q, Role::k, Role::v, Role::o, Role::d_o, Role::d_q, Role::d_k, Role::d_v};
  std::vector<std::vector<View>> views;
  std::vector<HeadExchange> exchanges;
  for (int group = 0; group < degrees.inter; ++group) {
    HeadExchange& exchange = exchanges.emplace_back(builder, static_cast<RankId>(group * degrees.intra), degrees.intra, roles);
    exchange.scatter(Phase::forward, {Role::q, Role::k, Role::v});
    exchange.scatter(Phase::backward, {Role::d_o});
    views.push_back(exchange.views());
  }
  inner(builder, views);
  for (HeadExchange& exchange : exchanges) {
    exchange.gather(Phase::forward, {Role::o});
    if (exchange.replicates_kv()) {
      exchange.gather(Phase::backward, {Role::d_q});
      exchange.sum_kv_gradients();
    } else {
      exchange.gather(Phase::backward, {Role::d_q, Role::d_k, Role::d_v});
    }
  }
}

}  // namespace hsap
