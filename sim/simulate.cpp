#include "sim/simulate.hpp"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "planner/cost/op_graph.hpp"
#include "sim/child_process.hpp"
#include "sim/pump.hpp"

namespace hsap {

namespace {

std::vector<double> flattened(const std::vector<OpTime>& times) {
  std::vector<double> numbers;
  numbers.reserve(2 * times.size());
  for (const OpTime& time : times) {
    numbers.push_back(time.begin);
    numbers.push_back(time.end);
  }
  return numbers;
}

std::vector<OpTime> op_times(const std::vector<double>& numbers) {
  std::vector<OpTime> times(numbers.size() / 2);
  for (std::size_t i = 0; i < times.size(); ++i) times[i] = {numbers[2 * i], numbers[2 * i + 1]};
  return times;
}

/// Each phase has its own child and clock, and all run side by side. Everything that can be refused has been refused when the
/// graphs were made, before there is a child.
std::vector<PhaseTimeline> simulate_phases(const std::vector<OpGraph>& graphs, const ClusterTopology& cluster) {
  std::vector<std::unique_ptr<ChildProcess>> children;
  for (const OpGraph& graph : graphs)
    children.push_back(std::make_unique<ChildProcess>([&] { return flattened(pump(graph, cluster)); }));
  std::vector<PhaseTimeline> timelines;
  for (std::size_t i = 0; i < graphs.size(); ++i) timelines.push_back(graphs[i].timeline(op_times(children[i]->result())));
  return timelines;
}

}  // namespace

Timeline simulate(const Schedule& schedule, const ClusterTopology& cluster, const KernelTimes& kernels) {
  return simulate_layer(schedule, {}, cluster, kernels).attention;
}

PhaseTimeline simulate(const Schedule& schedule, Phase phase, const ClusterTopology& cluster, const KernelTimes& kernels) {
  std::vector<OpGraph> graph;
  graph.push_back(op_graph(schedule, phase, cluster, kernels));
  return std::move(simulate_phases(graph, cluster).front());
}

LayerTimeline simulate_layer(const Schedule& schedule, const LinearWork& work, const ClusterTopology& cluster,
                             const KernelTimes& kernels) {
  const std::vector<double> begins = attention_begins(schedule, work);
  std::vector<OpGraph> graphs{op_graph(schedule, Phase::forward, cluster, kernels),
                              op_graph(schedule, Phase::backward, cluster, kernels)};
  const std::optional<double> together = common_begin(begins);
  if (!together) graphs.push_back(op_graph(schedule, Phase::backward, cluster, kernels, begins));
  std::vector<PhaseTimeline> timelines = simulate_phases(graphs, cluster);
  Timeline attention{std::move(timelines[0]), std::move(timelines[1])};
  if (together) return begun_together(std::move(attention), *together);
  return {std::move(attention), std::move(timelines[2])};
}

}  // namespace hsap
