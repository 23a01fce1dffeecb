#include "sim/simulate.hpp"

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

}  // namespace

Timeline simulate(const Schedule& schedule, const ClusterTopology& cluster, const KernelTimes& kernels) {
  // Everything that can be refused is refused here, before a child is made. A barrier lies between the phases, so each has its
  // own child and clock, and both run side by side.
  const OpGraph forward = op_graph(schedule, Phase::forward, cluster, kernels);
  const OpGraph backward = op_graph(schedule, Phase::backward, cluster, kernels);
  ChildProcess forward_child([&] { return flattened(pump(forward, cluster)); });
  ChildProcess backward_child([&] { return flattened(pump(backward, cluster)); });
  return {forward.timeline(op_times(forward_child.result())), backward.timeline(op_times(backward_child.result()))};
}

}  // namespace hsap
