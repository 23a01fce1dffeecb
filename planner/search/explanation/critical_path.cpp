#include "planner/search/explanation/critical_path.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

namespace hsap {

namespace {

constexpr NodeId kNone = std::numeric_limits<NodeId>::max();
/// Of the phase: gaps that are rounding of a predictor's clock.
constexpr double kNoise = 1e-9;

/// Of the ops that must end before each op, the one that ends last.
std::vector<NodeId> last_before(const PhaseRun& run) {
  std::vector<NodeId> result(run.graph.nodes.size(), kNone);
  for (NodeId node = 0; node < run.graph.nodes.size(); ++node)
    for (const NodeId next : run.graph.nodes[node].successors)
      if (result[next] == kNone || run.time(node).end > run.time(result[next]).end) result[next] = node;
  return result;
}

/// The message that an Exchange waits for longest (see the file comment of the header); of several, one that it receives.
const WireMessage* last_message(const PhaseRun& run, NodeId node) {
  const WireMessage* last = nullptr;
  double last_end = 0;
  for (const MessageId id : run.graph.nodes[node].messages) {
    const WireMessage& message = run.graph.messages[id];
    const double end =
        run.time(message).begin + message.route->latency_seconds + message.bytes / message.route->bytes_per_second;
    if (last == nullptr || end > last_end || (end == last_end && message.receiver == node)) last = &message, last_end = end;
  }
  return last;
}

Delivery delivery_of(const PhaseRun& run, const WireMessage& message) {
  const RankId from = run.graph.nodes[message.sender].rank;
  return {from, run.graph.nodes[message.receiver].rank, roles_of(run.schedule, from, run.message(message))};
}

/// The step that ends with `node`, and the op whose beginning it began with.
struct Found {
  PathStep step;
  NodeId began;
};

Found step_of(const PhaseRun& run, NodeId node, double end) {
  const OpNode& op = run.graph.nodes[node];
  PathStep step{run.time(node).begin, end, op.rank, op.op, kind_name(run.op(node).body), std::nullopt};
  const WireMessage* message = last_message(run, node);
  if (message == nullptr) return {step, node};
  const OpNode& receiver = run.graph.nodes[message->receiver];
  const NodeId later =
      run.time(message->sender).begin > run.time(message->receiver).begin ? message->sender : message->receiver;
  step.begin = run.time(*message).begin;
  step.rank = receiver.rank;
  step.op = receiver.op;
  step.delivery = delivery_of(run, *message);
  return {step, later};
}

std::vector<RankId> joined(const std::vector<RankId>& a, const std::vector<RankId>& b) {
  std::vector<RankId> result;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(result));
  return result;
}

PathRun run_of(const PathStep& step) {
  PathRun run{step.begin, step.end, 1, {step.rank}, {}, {}};
  if (step.delivery) run.senders = {step.delivery->from};
  run.shares.push_back({step.kind, step.delivery ? step.delivery->roles : std::vector<Role>{}, step.seconds()});
  return run;
}

bool same_activity(const ActivityShare& a, const ActivityShare& b) { return a.kind == b.kind && a.roles == b.roles; }

bool same_activity(const PathRun& a, const PathRun& b) {
  return a.shares.size() == 1 && b.shares.size() == 1 && same_activity(a.shares[0], b.shares[0]);
}

bool same_place(const PathRun& a, const PathRun& b) { return a.ranks == b.ranks && a.senders == b.senders; }

/// Appends `next` to `run`.
void extend(PathRun& run, const PathRun& next) {
  run.end = next.end;
  run.steps += next.steps;
  run.ranks = joined(run.ranks, next.ranks);
  run.senders = joined(run.senders, next.senders);
  for (const ActivityShare& share : next.shares) {
    const auto known =
        std::find_if(run.shares.begin(), run.shares.end(), [&](const ActivityShare& s) { return same_activity(s, share); });
    if (known == run.shares.end())
      run.shares.push_back(share);
    else
      known->seconds += share.seconds;
  }
  std::stable_sort(run.shares.begin(), run.shares.end(),
                   [](const ActivityShare& a, const ActivityShare& b) { return a.seconds > b.seconds; });
}

/// Joins neighbours for which join(a, b) holds.
template <class Join>
void join_neighbours(std::vector<PathRun>& runs, Join&& join) {
  std::vector<PathRun> result;
  for (PathRun& run : runs) {
    if (!result.empty() && join(result.back(), run))
      extend(result.back(), run);
    else
      result.push_back(std::move(run));
  }
  runs = std::move(result);
}

bool has_activities_of(const PathRun& a, const PathRun& b) {
  return std::all_of(b.shares.begin(), b.shares.end(), [&](const ActivityShare& share) {
    return std::any_of(a.shares.begin(), a.shares.end(), [&](const ActivityShare& s) { return same_activity(s, share); });
  });
}

/// Seconds that are told less exactly when the two become one: of both, but of the shorter one only when it does nothing that
/// the other does not.
double blurred_seconds(const PathRun& a, const PathRun& b) {
  const double first = a.end - a.begin, second = b.end - b.begin;
  return has_activities_of(a, b) || has_activities_of(b, a) ? std::min(first, second) : first + second;
}

void join_most_alike(std::vector<PathRun>& runs) {
  std::size_t best = 0;
  double least = blurred_seconds(runs[0], runs[1]);
  for (std::size_t i = 1; i + 1 < runs.size(); ++i)
    if (const double blurred = blurred_seconds(runs[i], runs[i + 1]); blurred < least) best = i, least = blurred;
  extend(runs[best], runs[best + 1]);
  runs.erase(runs.begin() + static_cast<std::ptrdiff_t>(best) + 1);
}

void add_wait(std::vector<Wait>& waits, const std::optional<Delivery>& delivery, double seconds) {
  const auto known = std::find_if(waits.begin(), waits.end(), [&](const Wait& wait) { return wait.delivery == delivery; });
  if (known == waits.end())
    waits.push_back({delivery, seconds});
  else
    known->seconds += seconds;
}

}  // namespace

std::vector<PathStep> critical_path(const PhaseRun& run) {
  const std::vector<NodeId> before = last_before(run);
  NodeId node = kNone;
  for (NodeId n = 0; n < run.graph.nodes.size(); ++n)
    if (node == kNone || run.time(n).end > run.time(node).end) node = n;

  std::vector<PathStep> path;
  double end = run.seconds;
  while (node != kNone) {
    auto [step, began] = step_of(run, node, end);
    const NodeId previous = before[began];
    step.begin = std::min(step.begin, end);
    const double previous_end = previous == kNone ? 0 : std::min(run.time(previous).end, step.begin);
    const double gap = step.begin - previous_end;
    if (gap <= kNoise * run.seconds) step.begin = previous_end;
    if (step.begin < step.end) path.push_back(step);
    if (previous_end < step.begin) path.push_back({previous_end, step.begin, step.rank, step.op, "", std::nullopt});
    end = previous_end;
    node = previous;
  }
  std::reverse(path.begin(), path.end());
  return path;
}

std::vector<PathRun> summarised(const std::vector<PathStep>& path, std::size_t most) {
  std::vector<PathRun> runs;
  std::transform(path.begin(), path.end(), std::back_inserter(runs), run_of);
  join_neighbours(runs, [](const PathRun& a, const PathRun& b) { return same_activity(a, b) && same_place(a, b); });
  if (runs.size() > most) join_neighbours(runs, [](const PathRun& a, const PathRun& b) { return same_activity(a, b); });
  while (runs.size() > most) join_most_alike(runs);
  return runs;
}

std::vector<double> idle_seconds(const PhaseRun& run) {
  std::vector<double> idle(run.schedule.ranks.size(), run.seconds);
  for (NodeId node = 0; node < run.graph.nodes.size(); ++node)
    if (!run.graph.nodes[node].is_exchange) idle[run.graph.nodes[node].rank] -= run.time(node).end - run.time(node).begin;
  return idle;
}

RankWaits waits_of(const PhaseRun& run, RankId rank) {
  const std::vector<NodeId> before = last_before(run);
  const auto delivery_before = [&](NodeId node) -> std::optional<Delivery> {
    const WireMessage* message = node == kNone ? nullptr : last_message(run, node);
    return message == nullptr ? std::nullopt : std::optional(delivery_of(run, *message));
  };
  RankWaits result{rank, 0, {}};
  double computed_until = 0;
  NodeId last_exchange = kNone;
  for (const Op& op : ops_of(run.schedule.ranks[rank], run.phase)) {
    const NodeId node = run.node(rank, op.id);
    const OpTime& time = run.time(node);
    if (run.graph.nodes[node].is_exchange) {
      if (last_exchange == kNone || time.end > run.time(last_exchange).end) last_exchange = node;
      continue;
    }
    const double gap = time.begin - computed_until;
    result.seconds += gap;
    if (gap > kNoise * run.seconds) add_wait(result.waits, delivery_before(before[node]), gap);
    computed_until = time.end;
  }
  result.seconds += run.seconds - computed_until;
  if (last_exchange != kNone && run.time(last_exchange).end > computed_until) {
    add_wait(result.waits, delivery_before(last_exchange), run.time(last_exchange).end - computed_until);
    computed_until = run.time(last_exchange).end;
  }
  if (run.seconds - computed_until > kNoise * run.seconds) add_wait(result.waits, std::nullopt, run.seconds - computed_until);
  std::stable_sort(result.waits.begin(), result.waits.end(),
                   [](const Wait& a, const Wait& b) { return a.seconds > b.seconds; });
  return result;
}

}  // namespace hsap
