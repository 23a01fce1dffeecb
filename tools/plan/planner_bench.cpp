#include "tools/plan/planner_bench.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "planner/strategies/hsap.hpp"

namespace hsap {

namespace {

/// Runs often enough for the best to be one without interruption: three times, and up to ten while a tenth of a second lasts.
/// Freeing the result is not timed: a trainer does that after the step.
template <typename Work>
double best_seconds(Work work) {
  using Clock = std::chrono::steady_clock;
  constexpr double kPatience = 0.1;
  double best = 0;
  double sum = 0;
  for (int round = 0; round < 3 || (round < 10 && sum < kPatience); ++round) {
    const Clock::time_point begin = Clock::now();
    const auto result = work();
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    best = round == 0 ? seconds : std::min(best, seconds);
    sum += seconds;
  }
  return best;
}

Placement place(const DocumentMask& mask, int ranks, double token_cap) {
  return place_cost_cut(mask, ranks,
                        {.token_cap = token_cap,
                         .pairs_per_token = kLlama3Layer.pairs_per_token(),
                         .pairs_per_entering_key = kLlama3Layer.pairs_per_entering_key(),
                         .groups_of_node = equal_nodes(ranks, kBenchRanksPerNode)});
}

std::optional<double> over(Token received, double bound) {
  if (bound <= 0) return std::nullopt;
  return static_cast<double>(received) / bound;
}

/// What a peer's results add up to.
PlannerSummary summary_of(const std::string& peer, const std::vector<const PeerResult*>& results) {
  const auto known = [&](std::optional<double> PeerResult::*field) {
    std::vector<double> values;
    for (const PeerResult* result : results)
      if (const std::optional<double>& value = result->*field) values.push_back(*value);
    return spread_of(std::move(values));
  };
  return {peer,
          results.size(),
          known(&PeerResult::planning_seconds),
          known(&PeerResult::direct_over_bound),
          known(&PeerResult::hierarchical_over_bound),
          std::nullopt};
}

}  // namespace

std::optional<double> PlannerRun::over_row_atomic() const { return over(traffic.received(), bound.volumes->row_atomic); }
std::optional<double> PlannerRun::over_coupled() const { return over(traffic.received(), bound.volumes->coupled); }

std::optional<double> PlannerRun::simulated_over_bound() const {
  if (!simulated_seconds) return std::nullopt;
  return *simulated_seconds / bound.compute_seconds;
}

PlannerRun run_planner(const BenchInstance& instance, int ranks, const PlannerBenchRules& rules) {
  const double token_cap = rules.token_cap;
  const Problem problem = bench_problem(instance.mask, ranks);
  PlannerRun run;
  run.instance = instance.name;
  run.tokens = instance.mask.tokens();
  run.documents = instance.mask.documents();
  run.ranks = ranks;
  const auto place_all = [&] { return place(instance.mask, ranks, token_cap); };
  run.placement_seconds = best_seconds(place_all);
  const Placement placement = place_all();
  run.lowering_seconds =
      best_seconds([&] { return lower_hsap(problem, {.intra = 1, .inter = ranks}, place_all(), rules.exchange); });
  run.traffic = measure_traffic(instance.mask, placement, kBenchRanksPerNode);
  run.within_cap =
      static_cast<double>(run.traffic.most_tokens()) <= token_cap * static_cast<double>(run.tokens) / ranks * (1 + 1e-9);
  run.direct_seconds = layer_seconds(run.traffic, kLlama3Layer, KvExchange::direct);
  run.hierarchical_seconds = layer_seconds(run.traffic, kLlama3Layer, KvExchange::hierarchical);
  if (rules.simulate) run.simulated_seconds = simulated_layer_seconds(problem, placement, rules.exchange);
  run.bound =
      layer_bound(instance.mask, kLlama3Layer, {.ranks = ranks, .ranks_per_node = kBenchRanksPerNode, .token_cap = token_cap});
  return run;
}

std::vector<const PlannerRun*> PlannerBench::runs_on(int of_ranks) const {
  std::vector<const PlannerRun*> found;
  for (const PlannerRun& run : runs)
    if (run.ranks == of_ranks) found.push_back(&run);
  return found;
}

std::vector<const PeerResult*> PlannerBench::peers_of(const PlannerRun& run) const {
  std::vector<const PeerResult*> found;
  for (const PeerResult& peer : peers)
    if (peer.ranks == run.ranks && peer.instance == run.instance) found.push_back(&peer);
  return found;
}

const PeerResult* PlannerBench::best_peer(const PlannerRun& run) const {
  const PeerResult* best = nullptr;
  const auto before = [](const PeerResult& a, const PeerResult& b) {
    if (*a.over_bound() != *b.over_bound()) return *a.over_bound() < *b.over_bound();
    return a.planning_seconds.value_or(HUGE_VAL) < b.planning_seconds.value_or(HUGE_VAL);
  };
  for (const PeerResult* peer : peers_of(run))
    if (!is_own_prototype(peer->peer) && peer->over_bound() && (best == nullptr || before(*peer, *best))) best = peer;
  return best;
}

std::optional<Spread> spread_of(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  const std::size_t upper = values.size() / 2;
  const std::size_t lower = (values.size() - 1) / 2;
  return Spread{values.size(), (values[lower] + values[upper]) / 2, values.back()};
}

std::vector<PlannerSummary> summaries(const PlannerBench& bench, int ranks) {
  std::vector<double> seconds;
  std::vector<double> direct;
  std::vector<double> hierarchical;
  std::vector<double> simulated;
  std::map<std::string, std::vector<const PeerResult*>> peers;
  for (const PlannerRun* run : bench.runs_on(ranks)) {
    seconds.push_back(run->placement_seconds);
    direct.push_back(run->direct_over_bound());
    hierarchical.push_back(run->hierarchical_over_bound());
    if (const std::optional<double> value = run->simulated_over_bound()) simulated.push_back(*value);
    for (const PeerResult* peer : bench.peers_of(*run)) peers[peer->peer].push_back(peer);
  }
  std::vector<PlannerSummary> result = {
      {"hsap", seconds.size(), spread_of(seconds), spread_of(direct), spread_of(hierarchical), spread_of(simulated)}};
  for (const auto& [peer, results] : peers) result.push_back(summary_of(peer, results));
  return result;
}

}  // namespace hsap
