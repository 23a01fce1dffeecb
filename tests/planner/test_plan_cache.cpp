// The cache of compiled plans: a plan comes back for an equal request only, the least recently used one goes first, and threads
// that ask together compile once.
#include "planner/search/plan_cache.hpp"

#include <catch2/catch.hpp>
#include <thread>
#include <vector>

#include "planner/ir/errors.hpp"
#include "tests/conformance/problems.hpp"

namespace hsap {
namespace {

PlanRequest request_of(const std::vector<Token>& lengths) {
  const Problem problem = test::problem_on(test::kShapeAtThePoint, test::offsets_of(lengths), 4, 2);
  return {"hsap", problem, {1, 4}, {}};
}

TEST_CASE("plan cache: an equal request gets the same plan, and the plan is what lower() makes") {
  PlanCache cache(2);
  const auto first = cache.plan(request_of({100, 900}));
  CHECK(cache.plan(request_of({100, 900})) == first);
  CHECK(*first == find_strategy("hsap").lower(request_of({100, 900}).problem, {1, 4}));
  CHECK(cache.counts().hits == 1);
  CHECK(cache.counts().misses == 1);
}

TEST_CASE("plan cache: lengths, mask, nodes, model, degrees, options and strategy all tell requests apart") {
  PlanCache cache(20);
  const PlanRequest base = request_of({100, 900});
  std::vector<PlanRequest> others(8, base);
  others[0].problem.mask = DocumentMask({0, 900, 1000});
  others[1].problem.mask = DocumentMask({0, 100, 1000}, window_rule(50));
  others[1].problem.shape.mask = window_rule(50);
  others[2].problem.node_of_rank = {0, 0, 0, 1};
  others[3].problem.shape.qk_dim = 64;
  others[4].degrees = {2, 2};
  others[5].options.stages = 3;
  others[6].options.d_kv = DType::fp32;
  others[7].strategy = "magi";
  const auto plan = cache.plan(base);
  for (std::size_t i = 0; i < others.size(); ++i) {
    CAPTURE(i);
    CHECK(cache.plan(others[i]) != plan);
  }
  CHECK(cache.counts().misses == 1 + others.size());
  CHECK(cache.counts().hits == 0);
}

TEST_CASE("plan cache: the plan that was not asked for longest goes first, and stays valid for who holds it") {
  PlanCache cache(2);
  const auto oldest = cache.plan(request_of({1000}));
  const auto kept = cache.plan(request_of({400, 600}));
  CHECK(cache.plan(request_of({1000})) == oldest);  // now 400, 600 is the one to go
  cache.plan(request_of({300, 700}));
  CHECK(cache.counts().kept == 2);
  CHECK(cache.plan(request_of({1000})) == oldest);
  CHECK(cache.counts().hits == 2);
  CHECK(cache.plan(request_of({400, 600})) != kept);
  CHECK(kept->mask.documents() == 2);
}

TEST_CASE("plan cache: what cannot be planned throws every time and is not kept") {
  PlanCache cache(2);
  PlanRequest wrong = request_of({1000});
  wrong.degrees = {3, 1};
  for (int attempt = 0; attempt < 2; ++attempt) CHECK_THROWS_AS(cache.plan(wrong), InvalidInput);
  CHECK(cache.counts().kept == 0);
  CHECK(cache.counts().misses == 2);
  CHECK_THROWS_AS(PlanCache(0), InvalidInput);
}

TEST_CASE("plan cache: threads that ask for the same plan compile it once") {
  PlanCache cache(4);
  std::vector<std::shared_ptr<const Schedule>> plans(8);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < plans.size(); ++i)
    threads.emplace_back([&cache, &plans, i] { plans[i] = cache.plan(request_of({i % 2 == 0 ? 500 : 600, 3000})); });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 2; i < plans.size(); ++i) CHECK(plans[i] == plans[i % 2]);
  CHECK(cache.counts().misses == 2);
  CHECK(cache.counts().hits == plans.size() - 2);
}

}  // namespace
}  // namespace hsap
