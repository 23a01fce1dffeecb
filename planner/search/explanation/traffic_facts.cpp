#include "planner/search/explanation/traffic_facts.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "planner/ir/work.hpp"
#include "planner/search/explanation/phase_run.hpp"

namespace hsap {

namespace {

using Round = std::tuple<int, int, std::vector<Role>>;  // step, stream, what messages carry

void add_roles(std::vector<Role>& roles, const std::vector<Role>& more) {
  for (const Role role : more)
    if (std::find(roles.begin(), roles.end(), role) == roles.end()) roles.push_back(role);
}

Token longest_part(const Schedule& schedule, RankId rank, const Message& message) {
  Token rows = 0;
  for (const Slice& part : message.parts) rows = std::max(rows, rows_of(schedule, rank, part));
  return rows;
}

RankOp described(const Schedule& schedule, RankId rank, Phase phase, const Op& op, const OpTime& time) {
  RankOp result;
  result.phase = phase;
  result.op = op.id;
  result.stream = op.stream;
  result.step = op.step;
  result.kind = kind_name(op.body);
  result.time = time;
  if (const auto* exchange = std::get_if<Exchange>(&op.body)) {
    for (const Message& message : exchange->sends) {
      add_roles(result.roles, roles_of(schedule, rank, message));
      result.to.push_back(message.peer);
      result.rows_sent += longest_part(schedule, rank, message);
      result.bytes_sent += bytes_of(schedule, rank, message);
    }
    for (const Message& message : exchange->recvs) {
      add_roles(result.roles, roles_of(schedule, rank, message));
      result.from.push_back(message.peer);
      result.rows_received += longest_part(schedule, rank, message);
      result.bytes_received += bytes_of(schedule, rank, message);
    }
    return result;
  }
  for_each_write(op.body, [&](const Slice& slice) {
    if (result.roles.empty()) result.rows_written = rows_of(schedule, rank, slice);
    add_roles(result.roles, {schedule.buffer(rank, slice.buffer).role});
  });
  result.bytes_touched = memory_traffic_of(schedule, rank, op.body);
  return result;
}

}  // namespace

PhaseTraffic traffic_of(const Schedule& schedule, Phase phase, const ClusterTopology& cluster) {
  PhaseTraffic traffic;
  traffic.bytes_sent.resize(schedule.ranks.size(), 0);
  std::map<Round, RoundTraffic> rounds;
  for (RankId rank = 0; rank < schedule.ranks.size(); ++rank) {
    std::map<Round, std::vector<RankId>> peers;  // that this rank sends to
    for (const Op& op : ops_of(schedule.ranks[rank], phase)) {
      const auto* exchange = std::get_if<Exchange>(&op.body);
      if (exchange == nullptr) continue;
      for (const Message& message : exchange->sends) {
        const double bytes = bytes_of(schedule, rank, message);
        const Round key{op.step, op.stream, roles_of(schedule, rank, message)};
        RoundTraffic& round = rounds[key];
        ++round.messages;
        round.bytes += bytes;
        traffic.bytes_sent[rank] += bytes;
        if (bytes > round.largest_bytes)
          round.largest_bytes = bytes, round.largest_from = rank, round.largest_to = message.peer;
        if (cluster.node_of(rank) != cluster.node_of(message.peer)) {
          ++round.messages_between_nodes;
          round.bytes_between_nodes += bytes;
        }
        peers[key].push_back(message.peer);
      }
    }
    for (auto& [key, sent_to] : peers) {
      std::sort(sent_to.begin(), sent_to.end());
      const auto different = static_cast<std::size_t>(std::unique(sent_to.begin(), sent_to.end()) - sent_to.begin());
      RoundTraffic& round = rounds[key];
      ++round.senders;
      round.most_peers = std::max(round.most_peers, different);
    }
  }
  for (auto& [key, round] : rounds) {
    std::tie(round.step, round.stream, round.roles) = key;
    traffic.messages += round.messages;
    traffic.bytes += round.bytes;
    traffic.bytes_between_nodes += round.bytes_between_nodes;
    traffic.rounds.push_back(std::move(round));
  }
  return traffic;
}

std::vector<RankOp> rank_program(const Schedule& schedule, RankId rank, const Timeline& timeline) {
  std::vector<RankOp> program;
  for (const Phase phase : {Phase::forward, Phase::backward})
    for (const Op& op : ops_of(schedule.ranks[rank], phase))
      program.push_back(described(schedule, rank, phase, op, phase_of(timeline, phase).ranks[rank][op.id]));
  return program;
}

}  // namespace hsap
