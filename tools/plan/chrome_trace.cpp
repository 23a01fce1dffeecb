#include "tools/plan/chrome_trace.hpp"

#include <nlohmann/json.hpp>
#include <set>

#include "planner/ir/work.hpp"

namespace hsap {

namespace {

using Json = nlohmann::ordered_json;

constexpr double kMicro = 1e-6;

std::string stream_name(int stream) {
  if (stream == kComputeStream) return "compute";
  return stream == kCommunicationStream ? "communication" : "communication " + std::to_string(stream);
}

class TraceWriter {
 public:
  TraceWriter(const Schedule& schedule, const ClusterTopology& cluster) : schedule_(schedule), cluster_(cluster) {}

  void add_rank(RankId rank) {
    name("process_name", rank, 0,
         "rank " + std::to_string(rank) + " (node " + std::to_string(cluster_.node_of(rank)) + ", " +
             cluster_.device(rank).name + ")");
    events_.push_back(
        {{"ph", "M"}, {"name", "process_sort_index"}, {"pid", rank}, {"tid", 0}, {"args", {{"sort_index", rank}}}});
    std::set<int> streams{kComputeStream, kCommunicationStream};
    for (const Phase phase : {Phase::forward, Phase::backward})
      for (const Op& op : ops_of(schedule_.ranks[rank], phase)) streams.insert(op.stream);
    for (const int stream : streams) name("thread_name", rank, stream, stream_name(stream));
  }

  void add_phase(RankId rank, Phase phase, const std::vector<OpTime>& times, double starts_at) {
    for (const Op& op : ops_of(schedule_.ranks[rank], phase)) {
      const OpTime& time = times[op.id];
      events_.push_back({{"ph", "X"},
                         {"name", kind_name(op.body) + " " + std::to_string(op.step)},
                         {"cat", to_string(phase)},
                         {"pid", rank},
                         {"tid", op.stream},
                         {"ts", (starts_at + time.begin) / kMicro},
                         {"dur", (time.end - time.begin) / kMicro},
                         {"args", arguments(rank, phase, op)}});
    }
  }

  Json take() { return {{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events_)}}; }

 private:
  void name(const char* what, RankId rank, int stream, const std::string& text) {
    events_.push_back({{"ph", "M"}, {"name", what}, {"pid", rank}, {"tid", stream}, {"args", {{"name", text}}}});
  }

  Json arguments(RankId rank, Phase phase, const Op& op) const {
    Json args = {{"phase", to_string(phase)}, {"op", op.id}, {"step", op.step}};
    if (const auto* exchange = std::get_if<Exchange>(&op.body)) {
      add_messages(args, "sent", "sent_to", rank, exchange->sends);
      add_messages(args, "received", "received_from", rank, exchange->recvs);
    } else {
      args["flops"] = flops_of(schedule_, rank, op.body);
      args["bytes_touched"] = memory_traffic_of(schedule_, rank, op.body);
    }
    return args;
  }

  void add_messages(Json& args, const std::string& verb, const std::string& peers_key, RankId rank,
                    const PooledList<Message>& messages) const {
    double bytes = 0;
    Json peers = Json::array();
    for (const Message& message : messages) {
      bytes += bytes_of(schedule_, rank, message);
      peers.push_back(message.peer);
    }
    args["bytes_" + verb] = bytes;
    args[peers_key] = std::move(peers);
  }

  const Schedule& schedule_;
  const ClusterTopology& cluster_;
  Json events_ = Json::array();
};

}  // namespace

Json chrome_trace(const Schedule& schedule, const Timeline& timeline, const ClusterTopology& cluster) {
  TraceWriter writer(schedule, cluster);
  for (RankId rank = 0; rank < schedule.ranks.size(); ++rank) {
    writer.add_rank(rank);
    writer.add_phase(rank, Phase::forward, timeline.forward.ranks[rank], 0);
    writer.add_phase(rank, Phase::backward, timeline.backward.ranks[rank], timeline.forward.seconds());
  }
  return writer.take();
}

}  // namespace hsap
