#include "planner/strategies/relay/plan.hpp"

#include <algorithm>
#include <stdexcept>

#include "planner/strategies/relay/nodes.hpp"
#include "planner/strategies/relay/range_parts.hpp"
#include "planner/strategies/relay/sorted_runs.hpp"
#include "planner/strategies/relay/steps.hpp"

namespace hsap {

namespace {

std::size_t index(int number) { return static_cast<std::size_t>(number); }

/// Steps to relays: those to a group by the same way become one.
class Collector {
 public:
  Collector(ProgramBuilder& builder, const RelayNodes& nodes, RelaySteps steps)
      : builder_(builder),
        nodes_(nodes),
        groups_(nodes.node_of_group.size()),
        steps_(std::move(steps)),
        coming_(by_arrival(steps_.coming, all_coming_)),
        entering_(by_arrival(steps_.entering, all_entering_)) {
    plan_.stages = nodes.in_rounds ? used_stages() : nodes.stages();
    for (int stage = 0; stage < plan_.stages; ++stage) plan_.is_inside.push_back(nodes.is_inside(stage));
    plan_.stays_inside = nodes.nodes() == 1;
    plan_.passes_on = nodes.in_rounds && nodes.nodes() > 1;
    number_arrivals();
    known_.resize(steps_.ranges.size(), kUnknown);
  }

  RelayPlan collect() {
    sort_steps();
    plan_.in.reserve(steps_.steps.size());
    std::span<const RelayStep> steps = steps_.steps;
    for (std::size_t g = 0; g < groups_; ++g) {
      plan_.first_in.push_back(plan_.in.size());
      plan_.first_arrival.push_back(plan_.arrivals.size());
      add_arrivals(static_cast<int>(g));
      while (!steps.empty() && index(steps.front().to) == g) {
        const std::size_t together = same_way(steps);
        add_relay(steps.first(together));
        steps = steps.subspan(together);
      }
    }
    plan_.first_in.push_back(plan_.in.size());
    plan_.first_arrival.push_back(plan_.arrivals.size());
    list_by_sender();
    return std::move(plan_);
  }

 private:
  static constexpr int kNone = -1;
  static constexpr TokenSetId kUnknown = ~TokenSetId{0};

  SortedRuns<ArrivalRows> by_arrival(const std::vector<ArrivalRows>& rows, std::vector<ArrivalRows>& sorted) const {
    return sort_by(
        rows, steps_.leaves.size(), [](const ArrivalRows& come) { return come.arrival; }, sorted);
  }

  int number_of(std::size_t arrival) const {
    if (number_[arrival] == kNone) throw std::logic_error("relay plan: rows that are passed on did not come");
    return number_[arrival];
  }

  int used_stages() const {
    int used = 1;
    for (const RelayStep& step : steps_.steps) used = std::max(used, way_of(step.way).stage + 1);
    return used;
  }

  void number_arrivals() {
    number_.resize(steps_.leaves.size(), kNone);
    const std::size_t of_group = number_.size() / groups_;
    for (std::size_t arrival = 0, count = 0; arrival < number_.size(); ++arrival) {
      if (arrival % of_group == 0) count = 0;
      if (!coming_.of(arrival).empty()) number_[arrival] = static_cast<int>(count++);
    }
  }

  /// By target, then by way; steps of one way as they are, as documents did.
  void sort_steps() {
    std::vector<RelayStep>& steps = steps_.steps;
    std::vector<RelayStep> by_sender;
    sort_by(
        steps, groups_, [](const RelayStep& step) { return index(way_of(step.way).from); }, by_sender);
    const std::size_t meetings = 3 * index(nodes_.stages());
    const auto target_and_meeting = [&](const RelayStep& step) {
      return index(step.to) * meetings + (step.way >> Way::kFirstBitOfMeeting);
    };
    sort_by(by_sender, groups_ * meetings, target_and_meeting, steps);
    for (std::size_t begin = 0, end = 0; begin < steps.size(); begin = end) {
      bool ascend = true;
      for (++end; end < steps.size() && same_peers(steps[begin], steps[end]); ++end)
        ascend = ascend && steps[end - 1].way <= steps[end].way;
      if (!ascend)
        std::stable_sort(&steps[begin], &steps[begin] + (end - begin),
                         [](const RelayStep& a, const RelayStep& b) { return a.way < b.way; });
    }
  }
  static bool same_peers(const RelayStep& a, const RelayStep& b) {
    return a.to == b.to && a.way >> Way::kFirstBitOfSender == b.way >> Way::kFirstBitOfSender;
  }

  /// How many steps at the beginning have the same target and way.
  static std::size_t same_way(std::span<const RelayStep> steps) {
    std::size_t count = 1;
    while (count < steps.size() && steps[count].way == steps[0].way && steps[count].to == steps[0].to) ++count;
    return count;
  }

  void add_arrivals(int group) {
    for (int stage = 0; stage < plan_.stages; ++stage)
      for (const Store store : {Store::needed, Store::passing}) {
        const std::size_t arrival = nodes_.arrival(group, stage, store);
        if (coming_.of(arrival).empty()) continue;
        const TokenSetId rows = intern(coming_.of(arrival));
        plan_.arrivals.push_back(
            {stage, store == Store::needed, rows, steps_.leaves[arrival] ? rows : intern(entering_.of(arrival))});
      }
  }

  void add_relay(std::span<const RelayStep> steps) {
    const int to = steps.front().to;
    const Way way = way_of(steps.front().way);
    const int arrival = number_of(nodes_.arrival(to, way.stage, way.arrival));
    const int source =
        way.source == Store::own ? Relay::kOwn : number_of(nodes_.arrival(way.from, way.source_stage, way.source));
    plan_.in.push_back({way.from, to, way.stage, way.hop, source, arrival, intern(steps)});
  }

  TokenSetId intern(std::span<const ArrivalRows> all) {
    run_.clear();
    for (const ArrivalRows& come : all) append(run_, come.rows);
    return intern_run();
  }

  TokenSetId intern(std::span<const RelayStep> steps) {
    if (steps.size() == 1) return intern(steps.front());
    run_.clear();
    for (const RelayStep& step : steps)
      for (const TokenRange& range : ranges_of(step)) append(run_, range);
    return intern_run();
  }

  /// Several groups may get the same.
  TokenSetId intern(const RelayStep& step) {
    TokenSetId& known = known_[step.first];
    if (known == kUnknown) known = builder_.intern(ranges_of(step));
    return known;
  }

  /// Ranges ascend, but in rounds.
  TokenSetId intern_run() {
    if (nodes_.in_rounds) normalise(run_);
    return builder_.intern(run_);
  }

  Ranges ranges_of(const RelayStep& step) const { return Ranges(steps_.ranges).subspan(step.first, step.count); }

  /// By stage, hop and receiver for each sender, as they are by stage, hop and sender for each receiver.
  void list_by_sender() {
    const std::size_t meetings = 3 * index(plan_.stages);
    const auto sender_and_meeting = [&](const Relay& relay) {
      return index(relay.from) * meetings + index(3 * relay.stage + static_cast<int>(relay.hop));
    };
    const SortedRuns<Relay> runs = sort_by(plan_.in, groups_ * meetings, sender_and_meeting, plan_.out);
    for (std::size_t g = 0; g <= groups_; ++g) plan_.first_out.push_back(runs.before(g * meetings));
  }

  ProgramBuilder& builder_;
  const RelayNodes& nodes_;
  const std::size_t groups_;
  RelaySteps steps_;
  std::vector<ArrivalRows> all_coming_, all_entering_;  // one arrival after the other, those of one as they came
  const SortedRuns<ArrivalRows> coming_, entering_;
  RelayPlan plan_;
  std::vector<int> number_;        // [arrival] of those of a group that are not empty, from 0 on, or kNone
  std::vector<TokenSetId> known_;  // [RelayStep::first] rows of a step that are interned, or kUnknown
  std::vector<TokenRange> run_;    // rows of the relay or arrival at hand
};

}  // namespace

RelayPlan plan_relays(ProgramBuilder& builder, const std::vector<TokenSetId>& groups, const std::vector<int>& node_of_group,
                      const RelayRules& rules) {
  std::vector<const TokenSet*> sets;
  for (const TokenSetId id : groups) sets.push_back(&builder.tokens(id));
  const RelayNodes nodes(node_of_group, rules);
  RelaySteps steps = plan_relay_steps(builder.mask(), sets, nodes, rules.least_rows);
  return Collector(builder, nodes, std::move(steps)).collect();
}

}  // namespace hsap
