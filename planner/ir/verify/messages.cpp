#include "planner/ir/verify/messages.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "planner/ir/errors.hpp"
#include "planner/ir/verify/place.hpp"

namespace hsap::proof {

namespace {

class Matcher {
 public:
  Matcher(const Schedule& schedule, Phase phase, const std::vector<HappensBefore>& order)
      : schedule_(schedule), phase_(phase), order_(order) {}

  MatchedMessages run() {
    number_messages();
    const std::vector<MessageIndex> sends = by_pair(matched_.sends, true);
    const std::vector<MessageIndex> recvs = by_pair(matched_.recvs, false);
    // Both lists run through the same (sender, receiver) pairs, so a rank that sends too much shows where they part.
    for (std::size_t i = 0; i < std::max(sends.size(), recvs.size()); ++i) {
      if (i == recvs.size() || (i < sends.size() && pair_of_send(sends[i]) < pair_of_recv(recvs[i])))
        refuse_alone(matched_.sends[sends[i]], true);
      if (i == sends.size() || pair_of_recv(recvs[i]) < pair_of_send(sends[i])) refuse_alone(matched_.recvs[recvs[i]], false);
      MessageEnd& send = matched_.sends[sends[i]];
      MessageEnd& recv = matched_.recvs[recvs[i]];
      if (i > 0 && pair_of_send(sends[i - 1]) == pair_of_send(sends[i])) {
        check_order(matched_.sends[sends[i - 1]], send, "sends to");
        check_order(matched_.recvs[recvs[i - 1]], recv, "receives from");
      }
      send.match = recvs[i];
      recv.match = sends[i];
    }
    for (const MessageIndex index : sends) check_parts(matched_.sends[index], matched_.recvs[matched_.sends[index].match]);
    return std::move(matched_);
  }

 private:
  using Pair = std::pair<RankId, RankId>;  // sender, receiver

  const Op& op_of(const MessageEnd& end) const { return ops_of(schedule_.ranks[end.rank], phase_)[end.op]; }
  Place place_of(const MessageEnd& end) const { return {schedule_, end.rank, phase_, op_of(end)}; }
  const Message& sent(const MessageEnd& end) const { return std::get<Exchange>(op_of(end).body).sends[end.position]; }
  const Message& received(const MessageEnd& end) const { return std::get<Exchange>(op_of(end).body).recvs[end.position]; }
  Pair pair_of_send(MessageIndex index) const {
    const MessageEnd& end = matched_.sends[index];
    return {end.rank, sent(end).peer};
  }
  Pair pair_of_recv(MessageIndex index) const {
    const MessageEnd& end = matched_.recvs[index];
    return {received(end).peer, end.rank};
  }

  void number_messages() {
    for (RankId rank = 0; rank < schedule_.ranks.size(); ++rank) {
      auto& first_send = matched_.first_send.emplace_back();
      auto& first_recv = matched_.first_recv.emplace_back();
      for (const Op& op : ops_of(schedule_.ranks[rank], phase_)) {
        first_send.push_back(static_cast<MessageIndex>(matched_.sends.size()));
        first_recv.push_back(static_cast<MessageIndex>(matched_.recvs.size()));
        const auto* exchange = std::get_if<Exchange>(&op.body);
        if (exchange == nullptr) continue;
        for (std::uint32_t i = 0; i < exchange->sends.size(); ++i) matched_.sends.push_back({rank, op.id, i, 0});
        for (std::uint32_t i = 0; i < exchange->recvs.size(); ++i) matched_.recvs.push_back({rank, op.id, i, 0});
      }
    }
  }

  /// Numbers of all sends (or receives), sorted by pair of ranks, in issue order inside a pair.
  std::vector<MessageIndex> by_pair(const std::vector<MessageEnd>& ends, bool sends) const {
    std::vector<std::tuple<RankId, RankId, MessageIndex>> keys;
    keys.reserve(ends.size());
    for (MessageIndex i = 0; i < ends.size(); ++i) {
      const auto [sender, receiver] = sends ? pair_of_send(i) : pair_of_recv(i);
      keys.emplace_back(sender, receiver, i);
    }
    std::sort(keys.begin(), keys.end());
    std::vector<MessageIndex> sorted;
    sorted.reserve(keys.size());
    for (const auto& key : keys) sorted.push_back(std::get<2>(key));
    return sorted;
  }

  std::size_t count(RankId rank, RankId peer, bool sends) const {
    std::size_t messages = 0;
    for (const Op& op : ops_of(schedule_.ranks[rank], phase_))
      if (const auto* exchange = std::get_if<Exchange>(&op.body))
        for (const Message& message : sends ? exchange->sends : exchange->recvs) messages += message.peer == peer ? 1 : 0;
    return messages;
  }

  [[noreturn]] void refuse_alone(const MessageEnd& end, bool is_send) const {
    const RankId peer = is_send ? sent(end).peer : received(end).peer;
    const std::string mine = std::to_string(count(end.rank, peer, is_send));
    const std::string theirs = std::to_string(count(peer, end.rank, !is_send));
    if (is_send)
      refuse(place_of(end), "sends to rank " + std::to_string(peer) + ", which never receives it: " + mine +
                                " messages sent, " + theirs + " received");
    refuse(place_of(end), "receives from rank " + std::to_string(peer) + ", which never sends it: " + mine +
                              " messages received, " + theirs + " sent");
  }

  void check_order(const MessageEnd& earlier, const MessageEnd& later, const std::string& verb) const {
    if (order_[later.rank](earlier.op, later.op)) return;
    const RankId peer = verb == "sends to" ? sent(later).peer : received(later).peer;
    refuse(place_of(later), verb + " rank " + std::to_string(peer) + " as op " + std::to_string(earlier.op) +
                                " does, on another stream and not ordered by `after`: which message comes first would be luck");
  }

  std::string describe_part(RankId rank, const Slice& part) const {
    const Buffer& buffer = schedule_.buffer(rank, part.buffer);
    return hsap::to_string(buffer.role) + " " + hsap::to_string(buffer.dtype) + " " + describe(schedule_.tokens(part.tokens)) +
           " " + describe(part.heads);
  }

  void check_parts(const MessageEnd& send, const MessageEnd& recv) const {
    const SliceList& from = sent(send).parts;
    const SliceList& into = received(recv).parts;
    const auto meets = [&] { return "sends to " + to_string(place_of(recv)) + " "; };
    if (from.size() != into.size())
      refuse(place_of(send), meets() + std::to_string(from.size()) + " parts, which expects " + std::to_string(into.size()));
    for (std::size_t i = 0; i < from.size(); ++i) {
      const Buffer& source = schedule_.buffer(send.rank, from[i].buffer);
      const Buffer& target = schedule_.buffer(recv.rank, into[i].buffer);
      if (source.role == target.role && source.dtype == target.dtype && from[i].tokens == into[i].tokens &&
          from[i].heads == into[i].heads)
        continue;
      refuse(place_of(send), meets() + "part " + std::to_string(i) + ": " + describe_part(send.rank, from[i]) +
                                 ", which expects " + describe_part(recv.rank, into[i]));
    }
  }

  const Schedule& schedule_;
  const Phase phase_;
  const std::vector<HappensBefore>& order_;
  MatchedMessages matched_;
};

}  // namespace

MatchedMessages match_messages(const Schedule& schedule, Phase phase, const std::vector<HappensBefore>& order) {
  return Matcher(schedule, phase, order).run();
}

}  // namespace hsap::proof
