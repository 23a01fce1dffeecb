// On an idle network the cost model and the simulator agree within 1 % for every strategy, degrees and option set.
#include <catch2/catch.hpp>

#include "planner/cost/estimate.hpp"
#include "planner/inputs/model_shape.hpp"
#include "planner/search/compare.hpp"
#include "sim/simulate.hpp"
#include "tests/conformance/problems.hpp"

namespace hsap {
namespace {

TEST_CASE("estimate and simulate agree within 1 % on an idle network, for every strategy") {
  const std::size_t gpus = GENERATE(8, 16);
  const auto kind = GENERATE(AttentionKind::softmax, AttentionKind::linear);
  const ClusterTopology cluster = ClusterTopology::read(HSAP_SOURCE_DIR "/topologies/dgx-h100-2.yaml").take_first(gpus);
  const KernelTimes kernels(cluster);
  AttentionShape shape = model_preset("Llama-3.1-8B").kinds.front().attention;
  if (kind == AttentionKind::linear) shape = linear_counterpart(shape);
  const Problem problem = make_problem(shape, test::offsets_of({40000, 1000, 3000, 20000, 500, 600, 436}), cluster);
  for (const test::Choice& choice : test::choices_for(problem)) {
    const Schedule schedule = choice.strategy->lower(problem, choice.degrees, choice.options);
    const Timeline estimated = estimate(schedule, cluster, kernels);
    const Timeline simulated = simulate(schedule, cluster, kernels);
    INFO(choice.describe() << " on " << gpus << " GPUs");
    CHECK(estimated.forward.seconds() == Approx(simulated.forward.seconds()).epsilon(0.01));
    CHECK(estimated.backward.seconds() == Approx(simulated.backward.seconds()).epsilon(0.01));
  }
}

}  // namespace
}  // namespace hsap
