#include "planner/packing/step_costs.hpp"

#include <algorithm>
#include <limits>

#include "planner/cost/estimate.hpp"
#include "planner/ir/work.hpp"
#include "planner/search/compare.hpp"

namespace hsap {

namespace {

/// Speed of the slowest route to the first GPU from those that share its node or not; `otherwise` without any.
double slowest_route(const ClusterTopology& cluster, bool same_node, double otherwise) {
  double slowest = std::numeric_limits<double>::infinity();
  for (GpuId gpu = 1; gpu < cluster.gpus(); ++gpu)
    if ((cluster.node_of(gpu) == cluster.node_of(0)) == same_node)
      slowest = std::min(slowest, cluster.route(gpu, 0).bytes_per_second);
  return slowest < std::numeric_limits<double>::infinity() ? slowest : otherwise;
}

double one_token_seconds(const AttentionShape& shape, const ClusterTopology& cluster, const KernelTimes& kernels) {
  const ClusterTopology one = cluster.take_first(1);
  const Timeline timeline = estimate(find_strategy("hsap").lower(make_problem(shape, {0, 1}, one), {1, 1}), one, kernels);
  return timeline.forward.seconds() + timeline.backward.seconds();
}

}  // namespace

double StepCosts::document_seconds(Token length) const {
  const double pairs = shape.kind == AttentionKind::softmax ? static_cast<double>(shape.mask.pairs(length, length))
                                                            : least_flops(shape, DocumentMask({0, length}), Phase::forward) /
                                                                  (shape.query_heads * flops_per_pair(shape, Phase::forward));
  return layer.seconds_per_pair * pairs + layer.seconds_per_token * static_cast<double>(length);
}

StepCosts step_costs(const AttentionShape& shape, const LinearWork& work, const ClusterTopology& cluster,
                     const KernelTimes& kernels) {
  StepCosts costs{
      .shape = shape, .layer = {}, .fixed_seconds = one_token_seconds(shape, cluster, kernels), .barrier = work.barrier};
  LayerCosts& layer = costs.layer;
  layer.seconds_per_pair = 0;
  for (const Phase phase : {Phase::forward, Phase::backward}) {
    layer.seconds_per_pair +=
        shape.query_heads * flops_per_pair(shape, phase) / kernels.best_attention_flops_per_second(0, shape, phase);
    layer.seconds_per_token += work.seconds_per_token(0, phase);
  }
  layer.bytes_per_kv_token = 2.0 * shape.kv_heads * (shape.qk_dim + shape.v_dim) * bytes_per_element(shape.dtype);
  layer.queries_per_kv_head = shape.queries_per_kv_head();
  layer.kv_heads = shape.kv_heads;
  const double any = std::numeric_limits<double>::max();  // one GPU: nothing travels
  layer.island_bytes_per_second = slowest_route(cluster, true, slowest_route(cluster, false, any));
  layer.nic_bytes_per_second = slowest_route(cluster, false, layer.island_bytes_per_second);
  return costs;
}

}  // namespace hsap
