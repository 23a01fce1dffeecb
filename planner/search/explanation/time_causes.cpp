#include "planner/search/explanation/time_causes.hpp"

#include <algorithm>

#include "planner/ir/time_intervals.hpp"
#include "planner/ir/work.hpp"
#include "planner/search/lower_bound.hpp"

namespace hsap {

namespace {

/// What flops_of() counts.
bool is_matrix_work(const OpBody& body) {
  return std::holds_alternative<Attend>(body) || std::holds_alternative<AttendBackward>(body) ||
         std::holds_alternative<StateUpdate>(body) || std::holds_alternative<StateApply>(body);
}

double matrix_flops(const Schedule& schedule, Phase phase, RankId rank) {
  double flops = 0;
  for (const Op& op : ops_of(schedule.ranks[rank], phase)) flops += flops_of(schedule, rank, op.body);
  return flops;
}

/// The work of a schedule at the best rates.
struct BestCase {
  RankId busiest = 0;
  double attention = 0;  ///< seconds of the busiest rank's matrix work
  double most = 0;       ///< seconds of the busiest rank, linear work included
  double even = 0;       ///< seconds if the work were spread evenly

  double imbalance() const { return most - even; }
};

BestCase best_case(const Schedule& schedule, Phase phase, const KernelTimes& kernels, const LinearWork& work) {
  BestCase best;
  double flops = 0;
  for (RankId rank = 0; rank < schedule.ranks.size(); ++rank) {
    const double of_rank = matrix_flops(schedule, phase, rank);
    const double attention = of_rank / kernels.best_attention_flops_per_second(rank, schedule.shape, phase);
    const double seconds = attention + work.seconds(schedule, rank, phase);
    flops += of_rank;
    if (rank > 0 && seconds <= best.most) continue;
    best.busiest = rank;
    best.attention = attention;
    best.most = seconds;
  }
  best.even = evenly_spread_seconds(flops, schedule.mask.tokens(), schedule.shape, static_cast<int>(schedule.ranks.size()),
                                    phase, work, kernels);
  return best;
}

std::vector<OpTime> joined(std::vector<OpTime> a, const std::vector<OpTime>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return merged(std::move(a));
}

}  // namespace

TimeCauses sum_of(const PhaseCauses& causes) {
  TimeCauses sum = causes.forward;
  for (double TimeCauses::*seconds :
       {&TimeCauses::seconds, &TimeCauses::bound_seconds, &TimeCauses::extra_work, &TimeCauses::imbalance,
        &TimeCauses::memory_cap, &TimeCauses::kernel_fragments, &TimeCauses::other_kernels, &TimeCauses::exposed_communication,
        &TimeCauses::latency, &TimeCauses::waiting})
    sum.*seconds += causes.backward.*seconds;
  return sum;
}

TimeCauses time_causes(const PhaseRun& run, const DocumentMask& documents, const KernelTimes& kernels, const LinearWork& work,
                       const Schedule* uncapped) {
  const Schedule& schedule = run.schedule;
  const BestCase best = best_case(schedule, run.phase, kernels, work);
  TimeCauses causes;
  causes.busiest_rank = best.busiest;
  causes.seconds = layer_seconds(schedule, run.timeline, run.phase, work);
  causes.bound_seconds =
      compute_bound_seconds(schedule.shape, documents, static_cast<int>(schedule.ranks.size()), run.phase, work, kernels);
  causes.extra_work = best.even - causes.bound_seconds;
  if (uncapped != nullptr)
    causes.memory_cap = std::max(best.imbalance() - best_case(*uncapped, run.phase, kernels, work).imbalance(), 0.0);
  causes.imbalance = best.imbalance() - causes.memory_cap;

  double matrix_seconds = 0;
  std::vector<OpTime> computing, on_the_way, on_links;
  for (const Op& op : ops_of(schedule.ranks[best.busiest], run.phase)) {
    const NodeId node = run.node(best.busiest, op.id);
    const OpTime& time = run.time(node);
    if (run.graph.nodes[node].is_exchange) {
      for (const MessageId id : run.graph.nodes[node].messages) {
        const WireMessage& message = run.graph.messages[id];
        const OpTime way = run.time(message);
        on_the_way.push_back(way);
        on_links.push_back({std::min(way.begin + message.route->latency_seconds, way.end), way.end});
      }
      continue;
    }
    (is_matrix_work(op.body) ? matrix_seconds : causes.other_kernels) += time.end - time.begin;
    computing.push_back(time);
  }
  double linear_begin = 0;
  if (!work.precedes_attention(run.phase))
    linear_begin = run.phase == Phase::forward && !work.barrier ? output_seconds(schedule, run.timeline, best.busiest)
                                                                : run.timeline.seconds(best.busiest);
  computing.push_back({linear_begin, linear_begin + work.seconds(schedule, best.busiest, run.phase)});
  causes.kernel_fragments = matrix_seconds - best.attention;
  computing = merged(std::move(computing));
  on_links = merged(std::move(on_links));
  causes.exposed_communication = seconds_outside(on_links, computing);
  const std::vector<OpTime> computing_or_on_links = joined(std::move(on_links), computing);
  on_the_way = merged(std::move(on_the_way));
  causes.latency = seconds_outside(on_the_way, computing_or_on_links);
  causes.waiting = seconds_outside({{0, causes.seconds}}, joined(std::move(on_the_way), computing_or_on_links));
  return causes;
}

PhaseCauses phase_causes(const Schedule& schedule, const DocumentMask& documents, const LayerTimeline& timeline,
                         const ClusterTopology& cluster, const KernelTimes& kernels, const LinearWork& work,
                         const Schedule* uncapped) {
  const auto causes = [&](Phase phase) {
    return time_causes(PhaseRun(schedule, phase, in_layer(timeline, phase, work), cluster, kernels), documents, kernels, work,
                       uncapped);
  };
  return {causes(Phase::forward), causes(Phase::backward)};
}

}  // namespace hsap
