#include "planner/search/explanation/explanation.hpp"

namespace hsap {

namespace {

MemoryFacts memory_facts(const Schedule& schedule) {
  MemoryFacts facts;
  for (RankId rank = 0; rank < schedule.ranks.size(); ++rank) {
    MemoryUse use = memory_of(schedule, rank);
    if (rank > 0 && use.peak_bytes <= facts.use.peak_bytes) continue;
    facts.rank = rank;
    facts.use = std::move(use);
  }
  facts.terms = terms_at_peak(schedule, facts.rank);
  return facts;
}

PhaseExplanation explain_phase(const PhaseRun& run, const ClusterTopology& cluster, const TimeCauses& causes) {
  PhaseExplanation result;
  result.traffic = traffic_of(run.schedule, run.phase, cluster);
  result.critical_path = critical_path(run);
  result.idle_seconds = idle_seconds(run);
  const Spread idle = spread_of(result.idle_seconds);
  result.most_waiting = waits_of(run, idle.most_rank);
  result.least_waiting = waits_of(run, idle.least_rank);
  result.causes = causes;
  return result;
}

}  // namespace

Explanation explain(const Schedule& schedule, const DocumentMask& documents, const LayerTimeline& timeline,
                    const ClusterTopology& cluster, const KernelTimes& kernels, const LinearWork& work,
                    const Schedule* uncapped) {
  const PhaseCauses causes = phase_causes(schedule, documents, timeline, cluster, kernels, work, uncapped);
  const auto phase = [&](Phase which, const TimeCauses& of_phase) {
    return explain_phase(PhaseRun(schedule, which, phase_of(timeline.attention, which), cluster, kernels), cluster, of_phase);
  };
  return {placement_facts(schedule, documents), phase(Phase::forward, causes.forward), phase(Phase::backward, causes.backward),
          memory_facts(schedule)};
}

}  // namespace hsap
