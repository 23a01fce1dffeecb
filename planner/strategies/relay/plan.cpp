#include "planner/strategies/relay/plan.hpp"

#include <algorithm>
#include <stdexcept>

#include "planner/strategies/relay/nodes.hpp"
#include "planner/strategies/relay/range_parts.hpp"
#include "planner/strategies/relay/steps.hpp"

namespace hsap {

namespace {

std::size_t index(int number) { return static_cast<std::size_t>(number); }

/// Counts, each put one place later, to where the items of each begin.
void sum_up(std::vector<std::size_t>& first) {
  for (std::size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
}

/// The ranges of each arrival one after the other, in the order in which they came.
class RangesOfArrivals {
 public:
  RangesOfArrivals(std::span<const ArrivalRows> all, std::size_t arrivals) : end_(arrivals + 1, 0), ranges_(all.size()) {
    for (const ArrivalRows& come : all) ++end_[come.arrival + 1];
    sum_up(end_);
    for (const ArrivalRows& come : all) ranges_[end_[come.arrival]++] = come.rows;
  }

  std::span<const TokenRange> of(std::size_t arrival) const {
    const std::size_t first = arrival == 0 ? 0 : end_[arrival - 1];
    return std::span(ranges_).subspan(first, end_[arrival] - first);
  }

 private:
  std::vector<std::size_t> end_;  // of each; while they are sorted in, where the next range goes
  std::vector<TokenRange> ranges_;
};

/// Steps to relays: those to a group by the same way become one.
class Collector {
 public:
  Collector(ProgramBuilder& builder, const RelayNodes& nodes, RelaySteps steps)
      : builder_(builder),
        nodes_(nodes),
        groups_(nodes.node_of_group.size()),
        steps_(std::move(steps)),
        coming_(steps_.coming, steps_.leaves.size()),
        entering_(steps_.entering, steps_.leaves.size()) {
    plan_.stages = nodes.in_rounds ? used_stages() : nodes.stages();
    for (int stage = 0; stage < plan_.stages; ++stage) plan_.is_inside.push_back(nodes.is_inside(stage));
    plan_.stays_inside = nodes.nodes() == 1;
    plan_.passes_on = nodes.in_rounds && nodes.nodes() > 1;
    number_.resize(steps_.leaves.size(), kNone);
  }

  RelayPlan collect() {
    std::vector<RelayStep> by_target(steps_.steps.size());
    std::vector<std::size_t> first(groups_ + 1, 0);
    for (const RelayStep& step : steps_.steps) ++first[index(step.to) + 1];
    sum_up(first);
    std::vector<std::size_t> next(first.begin(), first.end() - 1);
    for (const RelayStep& step : steps_.steps) by_target[next[index(step.to)]++] = step;

    plan_.in.reserve(by_target.size());
    for (std::size_t g = 0; g < groups_; ++g) {
      plan_.first_in.push_back(plan_.in.size());
      plan_.first_arrival.push_back(plan_.arrivals.size());
      number_arrivals(static_cast<int>(g));
      collect_to(static_cast<int>(g), std::span(by_target).subspan(first[g], first[g + 1] - first[g]));
    }
    plan_.first_in.push_back(plan_.in.size());
    plan_.first_arrival.push_back(plan_.arrivals.size());
    find_sources();
    list_by_sender();
    return std::move(plan_);
  }

 private:
  static constexpr int kNone = -1;

  int number_of(std::size_t arrival) const {
    if (number_[arrival] == kNone) throw std::logic_error("relay plan: rows that are passed on did not come");
    return number_[arrival];
  }

  int used_stages() const {
    int used = 1;
    for (const RelayStep& step : steps_.steps) used = std::max(used, way_of(step.way).stage + 1);
    return used;
  }

  void number_arrivals(int group) {
    int count = 0;
    for (int stage = 0; stage < plan_.stages; ++stage)
      for (const Store store : {Store::needed, Store::passing}) {
        const std::size_t arrival = nodes_.arrival(group, stage, store);
        const std::span<const TokenRange> come = coming_.of(arrival);
        if (come.empty()) continue;
        number_[arrival] = count++;
        const TokenSetId rows = intern(come);
        plan_.arrivals.push_back(
            {stage, store == Store::needed, rows, steps_.leaves[arrival] ? rows : intern(entering_.of(arrival))});
      }
  }

  /// Ranges of an arrival, which ascend but in rounds.
  TokenSetId intern(std::span<const TokenRange> ranges) {
    if (ranges.size() <= 1) return builder_.intern(ranges);
    run_.clear();
    for (const TokenRange& range : ranges) append(run_, range);
    if (nodes_.in_rounds) normalise(run_);
    return builder_.intern(run_);
  }

  void collect_to(int group, std::span<RelayStep> steps) {
    std::sort(steps.begin(), steps.end(), [](const RelayStep& a, const RelayStep& b) {
      return a.way != b.way ? a.way < b.way : a.first < b.first;  // then ranges ascend, as documents did
    });
    for (std::size_t i = 0; i < steps.size();) {
      const std::uint64_t number = steps[i].way;
      const Way way = way_of(number);
      run_.clear();
      const std::size_t run_begin = i;
      for (; i < steps.size() && steps[i].way == number; ++i) {
        const auto ranges = steps_.ranges.begin() + steps[i].first;
        run_.insert(run_.end(), ranges, ranges + steps[i].count);
      }
      if (i - run_begin > 1) normalise(run_);
      const int arrival = number_of(nodes_.arrival(group, way.stage, way.arrival));
      const int source =
          way.source == Store::own ? Relay::kOwn : static_cast<int>(nodes_.arrival(way.from, way.source_stage, way.source));
      plan_.in.push_back({way.from, group, way.stage, way.hop, source, arrival, builder_.intern(run_)});
    }
  }

  /// Relay::source was counted over all groups until the arrivals of each were numbered.
  void find_sources() {
    for (Relay& relay : plan_.in)
      if (relay.source != Relay::kOwn) relay.source = number_of(static_cast<std::size_t>(relay.source));
  }

  /// By stage, hop and receiver for each sender, as they are by stage, hop and sender for each receiver.
  void list_by_sender() {
    const auto meeting = [](const Relay& relay) { return index(3 * relay.stage + static_cast<int>(relay.hop)); };
    std::vector<std::size_t> next(3 * index(plan_.stages) + 1, 0);
    plan_.first_out.assign(groups_ + 1, 0);
    for (const Relay& relay : plan_.in) ++next[meeting(relay) + 1], ++plan_.first_out[index(relay.from) + 1];
    sum_up(next);
    sum_up(plan_.first_out);
    std::vector<std::uint32_t> in_order(plan_.in.size());
    for (std::size_t i = 0; i < plan_.in.size(); ++i) in_order[next[meeting(plan_.in[i])]++] = static_cast<std::uint32_t>(i);
    next.assign(plan_.first_out.begin(), plan_.first_out.end() - 1);
    plan_.out.resize(plan_.in.size());
    for (const std::uint32_t i : in_order) plan_.out[next[index(plan_.in[i].from)]++] = plan_.in[i];
  }

  ProgramBuilder& builder_;
  const RelayNodes& nodes_;
  const std::size_t groups_;
  RelaySteps steps_;
  const RangesOfArrivals coming_, entering_;
  RelayPlan plan_;
  std::vector<int> number_;      // [arrival] of those of a group that are not empty, from 0 on, or kNone
  std::vector<TokenRange> run_;  // rows of the relay or arrival at hand
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
