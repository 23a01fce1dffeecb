#include "planner/packing/planned_step.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "planner/ir/memory.hpp"
#include "planner/search/compare.hpp"

namespace hsap {

/// The GPUs of a replica as a cluster of their own. Kernel times and evaluator refer to the cluster, so it stays where it is.
struct StepPlanner::ReplicaCluster {
  ReplicaCluster(ClusterTopology gpus, const AttentionShape& shape, double linear_parameters, bool barrier,
                 const MakeEvaluator& make_evaluator)
      : cluster(std::move(gpus)), kernels(cluster), evaluator(make_evaluator(cluster, kernels)) {
    if (linear_parameters > 0) work = linear_work(linear_parameters, shape.dtype, static_cast<int>(cluster.gpus()), kernels);
    work.barrier = barrier;
  }

  ClusterTopology cluster;
  KernelTimes kernels;
  Evaluator evaluator;
  LinearWork work;
};

namespace {

std::vector<Token> offsets_of(const std::vector<Token>& lengths) {
  std::vector<Token> offsets = {0};
  for (const Token length : lengths) offsets.push_back(offsets.back() + length);
  return offsets;
}

/// Ranks that share heads share a node.
bool heads_stay_in_nodes(const Problem& problem, const Degrees& degrees) {
  for (int first = 0; first < problem.ranks; first += degrees.intra)
    if (problem.node_of_rank[static_cast<std::size_t>(first)] !=
        problem.node_of_rank[static_cast<std::size_t>(first + degrees.intra - 1)])
      return false;
  return true;
}

double both_phases(const Schedule& schedule, const LayerTimeline& timeline, const LinearWork& work) {
  return layer_seconds(schedule, timeline, Phase::forward, work) + layer_seconds(schedule, timeline, Phase::backward, work);
}

}  // namespace

double PlannedStep::seconds() const {
  double longest = 0;
  for (const auto& micro_batches : replicas)
    longest = std::max(longest, std::accumulate(micro_batches.begin(), micro_batches.end(), 0.0,
                                                [](double sum, const PlannedMicroBatch& one) { return sum + one.seconds; }));
  return longest;
}

Token PlannedStep::most_tokens() const {
  Token most = 0;
  for (const auto& micro_batches : replicas)
    for (const PlannedMicroBatch& one : micro_batches) most = std::max(most, one.most_tokens);
  return most;
}

double PlannedStep::peak_memory_bytes() const {
  double most = 0;
  for (const auto& micro_batches : replicas)
    for (const PlannedMicroBatch& one : micro_batches) most = std::max(most, one.peak_memory_bytes);
  return most;
}

StepPlanner::StepPlanner(const StepModel& model, double linear_parameters, const ClusterTopology& cluster,
                         const MakeEvaluator& evaluator)
    : shape_(model.costs().shape), barrier_(model.costs().barrier), tokens_per_rank_(model.tokens_per_rank()) {
  for (int replica = 0; replica < model.mesh().replicas; ++replica) {
    std::vector<GpuId> gpus(static_cast<std::size_t>(model.mesh().ranks));
    std::iota(gpus.begin(), gpus.end(), static_cast<GpuId>(replica * model.mesh().ranks));
    replicas_.push_back(
        std::make_unique<const ReplicaCluster>(cluster.take(gpus), shape_, linear_parameters, barrier_, evaluator));
  }
}

StepPlanner::~StepPlanner() = default;

PlannedStep StepPlanner::plan(const StepPacking& packing, const std::vector<Token>& lengths,
                              const std::function<void()>& done) const {
  PlannedStep step;
  for (std::size_t replica = 0; replica < packing.size(); ++replica) {
    step.replicas.emplace_back();
    for (const MicroBatch& micro_batch : packing[replica]) {
      step.replicas.back().push_back(plan(*replicas_[replica], lengths_of(micro_batch, lengths)));
      if (done) done();
    }
  }
  return step;
}

PlannedMicroBatch StepPlanner::plan(const ReplicaCluster& replica, const std::vector<Token>& lengths) const {
  Problem problem = make_problem(shape_, offsets_of(lengths), replica.cluster, replica.work, replica.kernels);
  problem.barrier = barrier_;
  StrategyOptions options;
  if (shape_.kind == AttentionKind::softmax)
    options.placement = placement_room(problem.mask.tokens(), problem.ranks, tokens_per_rank_, barrier_).law;
  const Strategy& strategy = find_strategy("hsap");
  std::optional<Schedule> best;
  PlannedMicroBatch planned;
  for (const Degrees& degrees : strategy.degrees(problem)) {
    if (!heads_stay_in_nodes(problem, degrees)) continue;
    Schedule schedule = strategy.lower(problem, degrees, options);
    const double seconds =
        both_phases(schedule, estimate_layer(schedule, replica.work, replica.cluster, replica.kernels), replica.work);
    if (best && seconds >= planned.seconds) continue;
    best = std::move(schedule);
    planned.seconds = seconds;
    planned.degrees = degrees;
  }
  planned.seconds = both_phases(*best, replica.evaluator(*best, replica.work), replica.work);
  planned.peak_memory_bytes = peak_memory(*best).peak_bytes;
  for (const RankProgram& rank : best->ranks)
    planned.most_tokens = std::max(planned.most_tokens, best->tokens(rank.tokens).size());
  return planned;
}

}  // namespace hsap
