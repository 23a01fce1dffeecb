#include "tools/plan/bench_simulation.hpp"

#include <algorithm>
#include <sstream>

#include "planner/cost/linear_work.hpp"
#include "planner/ir/work.hpp"
#include "planner/strategies/hsap.hpp"
#include "sim/simulate.hpp"

namespace hsap {

namespace {

/// The links of kLlama3Layer. Latencies are the least that cluster files may have, about a picosecond; nobody looks at the GPU.
ClusterTopology bench_cluster(int ranks) {
  const int nodes = (ranks + kBenchRanksPerNode - 1) / kBenchRanksPerNode;
  std::ostringstream yaml;
  yaml << "name: links of kLlama3Layer\n"
       << "nodes: " << nodes << "\n"
       << "gpus_per_node: " << kBenchRanksPerNode << "\n"
       << "gpu: {kind: any, bf16_dense: 400 TFLOP/s, memory_bandwidth: 1 TB/s, memory: 1 TB, multiprocessors: 1}\n"
       << "island: {kind: nvlink, gpus: " << kBenchRanksPerNode << ", bandwidth: " << kLlama3Layer.island_bytes_per_second / 1e9
       << " GB/s, latency: 0.001 ns}\n"
       << "nics: {serves: [";
  for (int gpu = 0; gpu < kBenchRanksPerNode; ++gpu) yaml << (gpu == 0 ? "" : ", ") << '[' << gpu << ']';
  yaml << "], bandwidth: " << kLlama3Layer.nic_bytes_per_second / 1e9 << " GB/s, latency: 0.001 ns}\n"
       << "network: {shape: leaf-spine, nodes_per_leaf: " << nodes  // one switch
       << ", oversubscription: 1, leaf_latency: 0.001 ns, spine_latency: 0.001 ns}\n";
  return ClusterTopology::parse(yaml.str(), "links of kLlama3Layer").take_first(static_cast<std::size_t>(ranks));
}

}  // namespace

Problem bench_problem(const DocumentMask& mask, int ranks) {
  Problem problem;
  problem.shape.query_heads = 32;
  problem.shape.kv_heads = 8;
  problem.shape.qk_dim = problem.shape.v_dim = 128;
  problem.mask = mask;
  problem.ranks = ranks;
  for (int rank = 0; rank < ranks; ++rank) problem.node_of_rank.push_back(rank / kBenchRanksPerNode);
  problem.pairs_per_token = kLlama3Layer.pairs_per_token();
  problem.pairs_per_entering_key = kLlama3Layer.pairs_per_entering_key();
  return problem;
}

double simulated_layer_seconds(const Problem& problem, const Placement& placement, const StrategyOptions& options) {
  const Schedule schedule = lower_hsap(problem, {.intra = 1, .inter = problem.ranks}, placement, options);
  const double flops_of_pair = problem.shape.query_heads * flops_per_pair(problem.shape, Phase::forward);
  const KernelTimes kernels = KernelTimes::at_constant_rate(flops_of_pair / kLlama3Layer.seconds_per_pair);
  const PhaseTimeline attention = simulate(schedule, Phase::forward, bench_cluster(problem.ranks), kernels);
  LinearWork linear;
  linear.forward.assign(schedule.ranks.size(), kLlama3Layer.seconds_per_token);
  return layer_seconds(schedule, attention, Phase::forward, linear);
}

}  // namespace hsap
