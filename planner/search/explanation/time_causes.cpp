#include "planner/search/explanation/time_causes.hpp"

#include "planner/ir/time_intervals.hpp"
#include "planner/ir/work.hpp"

namespace hsap {

namespace {

/// What flops_of() counts.
bool is_matrix_work(const OpBody& body) {
  return std::holds_alternative<Attend>(body) || std::holds_alternative<AttendBackward>(body) ||
         std::holds_alternative<StateUpdate>(body) || std::holds_alternative<StateApply>(body);
}

double matrix_flops(const PhaseRun& run, RankId rank) {
  double flops = 0;
  for (const Op& op : ops_of(run.schedule.ranks[rank], run.phase)) flops += flops_of(run.schedule, rank, op.body);
  return flops;
}

}  // namespace

TimeCauses time_causes(const PhaseRun& run, const DocumentMask& documents, const KernelTimes& kernels) {
  const Schedule& schedule = run.schedule;
  TimeCauses causes;
  causes.seconds = run.seconds;
  double flops = 0, flops_per_second = 0, most = -1;
  for (RankId rank = 0; rank < schedule.ranks.size(); ++rank) {
    const double work = matrix_flops(run, rank);
    const double rate = kernels.best_attention_flops_per_second(rank, schedule.shape, run.phase);
    flops += work;
    flops_per_second += rate;
    if (work / rate > most) most = work / rate, causes.busiest_rank = rank;
  }
  causes.bound_seconds = least_flops(schedule.shape, documents, run.phase) / flops_per_second;
  const double mean = flops / flops_per_second;
  causes.extra_work = mean - causes.bound_seconds;
  causes.imbalance = most - mean;

  double matrix_seconds = 0;
  std::vector<OpTime> computing, moving;
  for (const Op& op : ops_of(schedule.ranks[causes.busiest_rank], run.phase)) {
    const NodeId node = run.node(causes.busiest_rank, op.id);
    const OpTime& time = run.time(node);
    if (run.graph.nodes[node].is_exchange) {
      for (const MessageId message : run.graph.nodes[node].messages) moving.push_back(run.time(run.graph.messages[message]));
      continue;
    }
    (is_matrix_work(op.body) ? matrix_seconds : causes.other_kernels) += time.end - time.begin;
    computing.push_back(time);
  }
  causes.kernel_inefficiency = matrix_seconds - most;
  computing = merged(std::move(computing));
  moving = merged(std::move(moving));
  causes.exposed_communication = seconds_outside(moving, computing);
  moving.insert(moving.end(), computing.begin(), computing.end());
  causes.waiting = seconds_outside({{0, run.seconds}}, merged(std::move(moving)));
  return causes;
}

}  // namespace hsap
