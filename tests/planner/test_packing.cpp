// Packing of global batches: small cases by hand and by trying everything, then what every packing promises, on random batches.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "planner/inputs/model_shape.hpp"
#include "planner/ir/errors.hpp"
#include "planner/packing/balance.hpp"
#include "planner/packing/first_fit.hpp"
#include "planner/packing/pack_by_cost.hpp"
#include "planner/packing/pack_search.hpp"
#include "planner/packing/packing_bound.hpp"
#include "planner/packing/token_room.hpp"
#include "tests/planner/random_sets.hpp"

namespace hsap {
namespace {

using Catch::Matchers::Contains;

const AttentionShape kShape{.kind = AttentionKind::softmax,
                            .query_heads = 8,
                            .kv_heads = 2,
                            .qk_dim = 128,
                            .v_dim = 128,
                            .dtype = DType::bf16,
                            .mask = {},
                            .decay = 0};
constexpr Token kUncapped = std::numeric_limits<Token>::max();

/// A pair takes a second, a token `token_seconds`; what moves takes no time.
StepCosts hand_costs(double token_seconds = 0, double fixed_seconds = 0) {
  return {.shape = kShape,
          .layer = {.seconds_per_pair = 1,
                    .seconds_per_token = token_seconds,
                    .bytes_per_kv_token = 0,
                    .island_bytes_per_second = 1,
                    .nic_bytes_per_second = 1},
          .fixed_seconds = fixed_seconds};
}

StepModel hand_model(int replicas, int ranks, Token tokens_per_rank, const StepCosts& costs = hand_costs()) {
  return StepModel(costs, {replicas, ranks, std::vector<int>(static_cast<std::size_t>(replicas), ranks)}, tokens_per_rank);
}

ClusterTopology eight_gpus() {
  return ClusterTopology::parse(
      "name: eight\nnodes: 1\ngpus_per_node: 8\n"
      "gpu: {kind: H100 SXM, bf16_dense: 989.4 TFLOP/s, memory_bandwidth: 3350 GB/s, memory: 80 GB, multiprocessors: 132}\n"
      "island: {kind: nvlink, gpus: 8, bandwidth: 400 GB/s, latency: 3 us}\n",
      "test");
}

std::vector<Token> random_lengths(std::mt19937& random, int most_documents, int most_bits) {
  std::vector<Token> lengths;
  const auto documents = test::draw(random, 1, most_documents);
  while (static_cast<Token>(lengths.size()) < static_cast<Token>(documents)) {
    const Token scale = Token{1} << test::draw(random, 0, most_bits - 1);
    lengths.push_back(scale + test::draw(random, 0, scale));
  }
  return lengths;
}

/// Every document once, micro-batches ascending and not empty, within the capacity.
void check_packing(const StepPacking& packing, const StepModel& model, const std::vector<Token>& lengths) {
  CHECK(packing.size() == static_cast<std::size_t>(model.mesh().replicas));
  std::vector<int> seen(lengths.size(), 0);
  for (const Replica& replica : packing)
    for (const MicroBatch& micro_batch : replica) {
      REQUIRE(!micro_batch.empty());
      CHECK(std::is_sorted(micro_batch.begin(), micro_batch.end()));
      CHECK(tokens_of(micro_batch, lengths) <= model.capacity());
      for (const std::size_t document : micro_batch) {
        REQUIRE(document < lengths.size());
        ++seen[document];
      }
    }
  CHECK(std::all_of(seen.begin(), seen.end(), [](int times) { return times == 1; }));
}

double costliest(const Bins& bins, const std::vector<BinItem>& items) {
  double most = 0;
  for (const auto& bin : bins) {
    double cost = 0;
    for (const std::size_t item : bin) cost += items[item].cost;
    most = std::max(most, cost);
  }
  return most;
}

std::vector<BinItem> items_of(const std::vector<double>& costs) {
  std::vector<BinItem> items;
  for (const double cost : costs) items.push_back({cost, static_cast<Token>(cost)});
  return items;
}

/// Least of the costliest bin over all ways to fill them.
double best_by_trying(const std::vector<BinItem>& items, std::size_t bins) {
  std::vector<double> cost(bins, 0);
  double best = std::numeric_limits<double>::infinity();
  const std::function<void(std::size_t)> place = [&](std::size_t item) {
    if (item == items.size()) {
      best = std::min(best, *std::max_element(cost.begin(), cost.end()));
      return;
    }
    for (double& bin : cost) {
      bin += items[item].cost;
      place(item + 1);
      bin -= items[item].cost;
    }
  };
  place(0);
  return best;
}

}  // namespace

// --- bins -------------------------------------------------------------------------------------------------------------

TEST_CASE("balance: what costliest-first leaves uneven is evened out by exchanging items") {
  const std::vector<BinItem> items = items_of({3, 3, 2, 2, 2});  // costliest first: 3 + 2 + 2 and 3 + 2
  const std::optional<Bins> bins = balance(items, 2, kUncapped);
  REQUIRE(bins);
  CHECK(costliest(*bins, items) == 6);
}

TEST_CASE("balance: the cap on tokens is kept, and bins that are too small are said to be") {
  const std::vector<BinItem> items = {{10, 1}, {1, 4}, {1, 4}, {1, 4}};
  const std::optional<Bins> bins = balance(items, 4, 4);
  REQUIRE(bins);
  CHECK(std::all_of(bins->begin(), bins->end(), [](const auto& bin) { return bin.size() == 1; }));
  CHECK_FALSE(balance(items, 3, 4));
  CHECK_FALSE(balance(items, 8, 3));
  CHECK_THROWS_AS(balance(items, 0, 4), InvalidInput);
  // By cost the items of 3 part; only together they leave room for both of 4.
  const std::vector<BinItem> tight = {{9, 3}, {8, 3}, {1, 4}, {1, 2}};
  CHECK(balance(tight, 2, 6));
}

TEST_CASE("balance: near the best of all ways, which are tried") {
  const unsigned seed = GENERATE(21u, 22u, 23u, 24u);
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 25; ++round) {
    std::vector<double> costs;
    for (auto items = test::draw(random, 1, 8); items > 0; --items)
      costs.push_back(static_cast<double>(test::draw(random, 1, 60)));
    const auto bins = static_cast<std::size_t>(test::draw(random, 1, 3));
    CAPTURE(costs, bins);
    const std::vector<BinItem> items = items_of(costs);
    const double best = best_by_trying(items, bins);
    const double ours = costliest(*balance(items, bins, kUncapped), items);
    CHECK(ours >= best);
    CHECK(ours <= best * (4.0 / 3 - 1.0 / (3.0 * static_cast<double>(bins))) + 1e-9);  // Graham 1969
  }
}

// --- by hand ----------------------------------------------------------------------------------------------------------

TEST_CASE("packing: first-fit puts the long documents into one sequence, packing by cost parts them") {
  const std::vector<Token> lengths = {4, 4, 1, 1, 1, 1, 1, 1, 1, 1};  // 10 pairs each, then 1 each
  const StepModel model = hand_model(2, 1, 100);
  CHECK(first_fit_packing(model, lengths, model.capacity()) == StepPacking{{{0, 1}}, {{2, 3, 4, 5, 6, 7, 8, 9}}});
  CHECK(model.step_seconds(first_fit_packing(model, lengths, model.capacity()), lengths) == Approx(20));
  const StepPacking packed = pack_by_cost(model, lengths, model.capacity());
  CHECK(model.replica_seconds(packed, lengths) == std::vector<double>{14, 14});
  CHECK(packing_bound_seconds(model, lengths) == Approx(14));
}

TEST_CASE("packing: memory asks for micro-batches, each of which costs its fixed time") {
  const std::vector<Token> lengths = {4, 4, 1, 1, 1, 1, 1, 1, 1, 1};
  const StepModel model = hand_model(2, 1, 4, hand_costs(0, 5));
  const StepPacking packed = pack_by_cost(model, lengths, model.capacity());
  CHECK(packed[0].size() == 2);
  CHECK(packed[1].size() == 2);
  CHECK(model.step_seconds(packed, lengths) == Approx(14 + 2 * 5));
  CHECK(packing_bound_seconds(model, lengths) == Approx(14 + 2 * 5));
  CHECK(first_fit_packing(model, lengths, model.capacity()) == StepPacking{{{0}, {2, 3, 4, 5}}, {{1}, {6, 7, 8, 9}}});
}

TEST_CASE("packing: linear work counts like pairs, and ranks of a replica share both") {
  const StepModel model = hand_model(1, 4, 100, hand_costs(3));
  CHECK(model.micro_batch_seconds(0, {4, 2}) == Approx((10 + 3 + 3 * 6) / 4.0));
  CHECK(model.micro_batch_seconds(0, {}) == 0);
}

TEST_CASE("packing: a document that fills its ranks waits for the keys that its last rank does not hold") {
  StepCosts costs = hand_costs();
  costs.layer.bytes_per_kv_token = 100;
  CHECK(hand_model(1, 2, 5, costs).micro_batch_seconds(0, {10}) == Approx((10 - 5) * 100));
  CHECK(hand_model(1, 2, 5, costs).micro_batch_seconds(0, {5, 5}) == Approx(15));  // one on each
  costs.shape.mask = window_rule(2);  // 1 pair, then 2 of each row; what few keys move is not counted
  CHECK(hand_model(1, 2, 5, costs).micro_batch_seconds(0, {10}) == Approx(19 / 2.0));
}

TEST_CASE("packing: the bound counts the costliest document, and two where there is one more than replicas") {
  CHECK(packing_bound_seconds(hand_model(2, 2, 100), {10, 1}) == Approx(55 / 2.0));
  CHECK(packing_bound_seconds(hand_model(2, 1, 100), {3, 3, 3}) == Approx(12));  // mean 9
  CHECK(packing_bound_seconds(hand_model(2, 1, 100), {}) == 0);
}

TEST_CASE("packing: fewer documents than replicas leave some with nothing to do") {
  const std::vector<Token> lengths = {7};
  const StepModel model = hand_model(3, 2, 4);
  const StepPacking only_one = {{{0}}, {}, {}};
  CHECK(pack_by_cost(model, lengths, model.capacity()) == only_one);
  CHECK(first_fit_packing(model, lengths, model.capacity()) == only_one);
  CHECK(pack_by_cost(model, {}, 8) == StepPacking(3));
}

TEST_CASE("packing: equal documents are dealt out evenly") {
  const std::vector<Token> lengths(24, 8);
  const StepModel model = hand_model(4, 2, 8);
  const StepPacking packed = pack_by_cost(model, lengths, model.capacity());
  for (const Replica& replica : packed) {
    CHECK(replica.size() == 3);
    for (const MicroBatch& micro_batch : replica) CHECK(micro_batch.size() == 2);
  }
  CHECK(model.step_seconds(packed, lengths) == Approx(packing_bound_seconds(model, lengths)));
}

TEST_CASE("packing: micro-batches leave the placement room, but for a document that needs all of it") {
  CHECK(hand_model(1, 4, 105).roomy_capacity() == 400);
  CHECK(hand_model(2, 1, 105).roomy_capacity() == 105);
  const StepModel model = hand_model(1, 4, 105);
  const std::vector<Token> lengths = {420, 200, 200, 15};
  CHECK(pack_by_cost(model, {200, 200, 15}, model.roomy_capacity()).front().size() == 2);
  CHECK(pack_by_cost(model, {200, 200, 15}, model.capacity()).front().size() == 1);
  CHECK(pack_by_cost(model, lengths, model.roomy_capacity()).front().size() == 2);  // 420 alone, as long as is allowed
}

TEST_CASE("packing: placements keep to the tokens that a rank has room for") {
  CHECK(placement_room(800, 8, 125, false).token_cap == 1.25);
  CHECK(placement_room(801, 8, 125, false).token_cap == 1.05);
  CHECK(placement_room(952, 8, 125, false).token_cap == 1.05);
  CHECK(placement_room(980, 8, 125, false).token_cap == 1.02);
  CHECK(placement_room(1000, 8, 125, false).token_cap == 1);
  CHECK(placement_room(800, 8, 125, true).token_cap == 1.02);
}

// --- promises ---------------------------------------------------------------------------------------------------------

TEST_CASE("packing: every document once, caps kept, the bound below all, on random batches") {
  const unsigned seed = GENERATE(31u, 32u, 33u, 34u, 35u);
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 40; ++round) {
    const std::vector<Token> lengths = random_lengths(random, 200, 12);
    const Token longest = *std::max_element(lengths.begin(), lengths.end());
    const int replicas = static_cast<int>(test::draw(random, 1, 9)), ranks = static_cast<int>(test::draw(random, 1, 9));
    const Token least = (longest + ranks - 1) / ranks;
    const StepModel model = hand_model(replicas, ranks, least + test::draw(random, 0, 2 * least),
                                       hand_costs(static_cast<double>(test::draw(random, 0, 2000)), 100));
    CAPTURE(lengths, replicas, ranks, model.tokens_per_rank());
    const Token most_tokens = round % 2 == 0 ? model.capacity() : model.roomy_capacity();
    const StepPacking first_fit = first_fit_packing(model, lengths, most_tokens);
    const StepPacking packed = pack_by_cost(model, lengths, most_tokens);
    check_packing(first_fit, model, lengths);
    check_packing(packed, model, lengths);
    CHECK(packed == pack_by_cost(model, lengths, most_tokens));
    const double bound = packing_bound_seconds(model, lengths) * (1 - 1e-12);
    CHECK(model.step_seconds(first_fit, lengths) >= bound);
    CHECK(model.step_seconds(packed, lengths) >= bound);
    double cost = 0, most = 0;  // costliest first: no replica is above the mean by more than one document
    for (const Token length : lengths) cost += model.costs().document_seconds(length);
    for (const Replica& replica : packed) {
      double of_replica = 0;
      for (const MicroBatch& micro_batch : replica)
        for (const std::size_t document : micro_batch) of_replica += model.costs().document_seconds(lengths[document]);
      most = std::max(most, of_replica);
    }
    CHECK(most <= cost / replicas + model.costs().document_seconds(longest) * (1 + 1e-12));
  }
}

// --- search -----------------------------------------------------------------------------------------------------------

namespace {

PackRequest request_for(const ClusterTopology& cluster, const std::vector<std::vector<Token>>& batches, Token tokens_per_rank) {
  const KernelTimes kernels(cluster);
  PackRequest request;
  request.linear_parameters = 2e7;
  const int gpus = static_cast<int>(cluster.gpus());
  request.costs = step_costs(kShape, linear_work(request.linear_parameters, kShape.dtype, gpus, kernels), cluster, kernels);
  request.batches = batches;
  request.replicas = possible_replicas(cluster);
  request.tokens_per_rank = [tokens_per_rank](int) { return tokens_per_rank; };
  return request;
}

MakeEvaluator by_estimate() {
  return [](const ClusterTopology& cluster, const KernelTimes& kernels) {
    return [&](const Schedule& schedule, const LinearWork& work) { return estimate_layer(schedule, work, cluster, kernels); };
  };
}

}  // namespace

TEST_CASE("packing: the search is never slower than first-fit, by the model and by what is measured, on random batches") {
  const unsigned seed = GENERATE(41u, 42u);
  const bool measured = GENERATE(false, true);
  CAPTURE(seed, measured);
  std::mt19937 random(seed);
  const ClusterTopology cluster = eight_gpus();
  const std::vector<std::vector<Token>> batches = {random_lengths(random, 40, 12), random_lengths(random, 40, 13)};
  PackRequest request = request_for(cluster, batches, 2500);
  if (measured) request.evaluator = by_estimate();
  const PackResult result = search_packings(request, cluster);
  REQUIRE(result.meshes.size() == 4);
  REQUIRE(result.chosen);
  for (const MeshResult& mesh : result.meshes) {
    CAPTURE(mesh.mesh.replicas, mesh.refusal);
    if (!mesh.works()) continue;
    CHECK(total_seconds(mesh.packed) <= total_seconds(mesh.first_fit));
    CHECK(modelled_seconds(mesh.packed) >= mesh.bound_seconds * (1 - 1e-12));
    CHECK(total_seconds(mesh.packed) >= total_seconds(result.meshes[*result.chosen].packed) / 1.003);
    const StepModel model(request.costs, mesh.mesh, mesh.tokens_per_rank);
    for (std::size_t b = 0; b < batches.size(); ++b) {
      check_packing(mesh.packed[b].packing, model, batches[b]);
      CHECK(mesh.packed[b].step_seconds() == Approx(model.step_seconds(mesh.packed[b].packing, batches[b])));
      REQUIRE(mesh.packed[b].planned.has_value() == measured);
      if (!measured) continue;
      CHECK(mesh.packed[b].planned->most_tokens() <= mesh.tokens_per_rank);
      CHECK(mesh.packed[b].planned->seconds() >= mesh.packed[b].step_seconds() * 0.99);  // the model is a lower bound of plans
    }
  }
}

TEST_CASE("packing: a document that no replica has room for is answered with the replicas that have, and with the tokens") {
  const ClusterTopology cluster = eight_gpus();
  PackRequest request = request_for(cluster, {{100}, {1, 2000}}, 500);
  const PackResult result = search_packings(request, cluster);
  CHECK(result.meshes[0].works());
  CHECK(result.meshes[1].works());
  CHECK_THAT(result.meshes[2].refusal, Contains("document 1 of global batch 1 has 2,000 tokens") &&
                                           Contains("room for 1,000 (500 per rank)") && Contains("DP 2 or fewer have room") &&
                                           Contains("1,000 tokens per rank would do"));
  request.tokens_per_rank = [](int) { return Token{10}; };
  const PackResult none = search_packings(request, cluster);
  CHECK_FALSE(none.chosen);
  CHECK_FALSE(none.best_first_fit());
  CHECK_THAT(none.meshes[0].refusal, Contains("no DP has room, 250 tokens per rank would do"));
}

TEST_CASE("packing: alike meshes are told apart by their replicas, which cut fewer documents") {
  const ClusterTopology cluster = eight_gpus();
  const PackResult result = search_packings(request_for(cluster, {std::vector<Token>(64, 512)}, 100'000), cluster);
  REQUIRE(result.chosen);
  CHECK(result.meshes[*result.chosen].mesh.replicas == 8);
}

TEST_CASE("packing: what makes no sense is refused") {
  const ClusterTopology cluster = eight_gpus();
  CHECK_THROWS_WITH(make_mesh(cluster, 3), Contains("8 GPUs") && Contains("1, 2, 4, 8"));
  CHECK_THROWS_AS(search_packings(request_for(cluster, {}, 10), cluster), InvalidInput);
  CHECK_THROWS_AS(search_packings(request_for(cluster, {{}}, 10), cluster), InvalidInput);
  CHECK_THROWS_AS(search_packings(request_for(cluster, {{4, 0}}, 10), cluster), InvalidInput);
  CHECK_THROWS_AS(hand_model(1, 1, 0), InvalidInput);
  CHECK_THROWS_AS(hand_model(1, 1, kUncapped), InvalidInput);
}

TEST_CASE("packing: linear attention and masks with windows are packed too") {
  const ClusterTopology cluster = eight_gpus();
  AttentionShape shape = kShape;
  SECTION("linear") { shape = linear_counterpart(kShape); }
  SECTION("window") { shape.mask = window_rule(100); }
  PackRequest request = request_for(cluster, {{3000, 200, 200, 100, 100}}, 4000);
  request.costs.shape = shape;
  request.evaluator = by_estimate();
  const PackResult result = search_packings(request, cluster);
  REQUIRE(result.chosen);
  const PackedStep& step = result.meshes[*result.chosen].packed.front();
  CHECK(step.planned->seconds() > 0);
}

// --- memory -----------------------------------------------------------------------------------------------------------

TEST_CASE("token room: states are sharded, layer inputs and one layer's work are per token") {
  const ModelShape model = model_preset("Llama-3.1-8B");
  const ClusterTopology cluster = eight_gpus();
  const RankMemory memory = rank_memory(model, model.kinds.front(), cluster, 2);
  const double parameters = *model.kinds.front().linear_parameters;
  CHECK(memory.bytes == Approx(64e9));
  CHECK(memory.state_bytes == Approx(32 * parameters * (4 / 2.0 + 12 / 8.0)));
  const double inputs = 32 * 4096 * 2, linear = 2 * parameters / 4096 * 2;
  const double attention = memory.bytes_per_token - inputs - linear;
  const double q_and_kv = 2 * (32 * 128 + 2 * 8 * 128);  // bytes of q, k, v: there again as gradients, with o and its gradient
  CHECK(attention >= 2 * q_and_kv + 2 * 2 * 32 * 128);
  CHECK(attention <= 3 * (q_and_kv + 2 * 32 * 128));
}

}  // namespace hsap
