#include "planner/strategies/multi_nic_hops.hpp"

#include <algorithm>
#include <utility>

#include "planner/strategies/head_exchange.hpp"

namespace hsap {

namespace {

class MultiNicHops {
 public:
  MultiNicHops(ProgramBuilder& builder, const std::vector<int>& node_of_rank)
      : builder_(builder), node_of_rank_(node_of_rank) {}

  void add(const Hop& hop) {
    if (node_of_rank_[hop.from] == node_of_rank_[hop.to]) {
      dispatch_.push_back(hop);
      return;
    }
    const std::vector<RankId> senders = ranks_of(node_of_rank_[hop.from]), receivers = ranks_of(node_of_rank_[hop.to]);
    const std::size_t lanes = std::min(senders.size(), receivers.size());
    std::vector<std::vector<TokenSetId>> rows;  // [part][lane]
    for (const Slice& part : hop.out) {
      const TokenSet tokens = builder_.tokens(part.tokens);
      std::vector<TokenSetId>& lane_rows = rows.emplace_back();
      for (const TokenSet& share : split_rows(tokens, static_cast<int>(lanes))) lane_rows.push_back(builder_.intern(share));
    }
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const auto share_of = [&](const std::vector<Slice>& parts) {
        std::vector<Slice> share = parts;
        for (std::size_t i = 0; i < parts.size(); ++i) share[i].tokens = rows[i][lane];
        return share;
      };
      const std::vector<Slice> out = share_of(hop.out), in = share_of(hop.in);
      const std::vector<Slice> at_sender = senders[lane] == hop.from ? out : room(senders[lane], hop.from, out);
      const std::vector<Slice> at_receiver = receivers[lane] == hop.to ? in : room(receivers[lane], hop.to, in);
      if (senders[lane] != hop.from) dispatch_.push_back({hop.from, senders[lane], out, at_sender});
      across_.push_back({senders[lane], receivers[lane], at_sender, at_receiver});
      if (receivers[lane] != hop.to) combine_.push_back({receivers[lane], hop.to, at_receiver, in});
    }
  }

  void post(Phase phase, int step) const {
    pass_on_stream(builder_, kCommunicationStream, phase, step, dispatch_);
    pass_on_stream(builder_, kCommunicationStream + 1, phase, step, across_);
    pass_on_stream(builder_, kCommunicationStream, phase, step, combine_);
  }

 private:
  std::vector<RankId> ranks_of(int node) const {
    std::vector<RankId> ranks;
    for (RankId rank = 0; rank < node_of_rank_.size(); ++rank)
      if (node_of_rank_[rank] == node) ranks.push_back(rank);
    return ranks;
  }

  /// Room on a proxy for slices of `owner`.
  std::vector<Slice> room(RankId proxy, RankId owner, const std::vector<Slice>& parts) {
    std::vector<Slice> copies;
    for (const Slice& part : parts) {
      const Buffer like = builder_.program(owner).buffers[part.buffer];
      copies.push_back(builder_.whole(
          proxy, builder_.add_buffer(proxy, like.role, like.dtype, part.tokens, part.heads, like.name.text() + " share")));
    }
    return copies;
  }

  ProgramBuilder& builder_;
  const std::vector<int>& node_of_rank_;
  std::vector<Hop> dispatch_, across_, combine_;
};

}  // namespace

PassOn pass_over_all_nics(std::vector<int> node_of_rank) {
  return [nodes = std::move(node_of_rank)](ProgramBuilder& builder, Phase phase, int step, const std::vector<Hop>& hops) {
    MultiNicHops exchanges(builder, nodes);
    for (const Hop& hop : hops) exchanges.add(hop);
    exchanges.post(phase, step);
  };
}

}  // namespace hsap
