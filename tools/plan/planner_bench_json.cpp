#include "tools/plan/planner_bench_json.hpp"

#include <nlohmann/json.hpp>

namespace hsap {

namespace {

using Json = nlohmann::ordered_json;

Json number(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Json bound_json(const LayerBound& bound) {
  return {
      {"compute_seconds", bound.compute_seconds},
      {"seconds", bound.seconds},
      {"binding", to_string(bound.binding)},
      {"any_plan_seconds", bound.any_plan_seconds},
      {"any_plan_binding", to_string(bound.any_plan_binding)},
      {"row_atomic_keys", bound.volumes->row_atomic},
      {"coupled_keys", bound.volumes->coupled},
      {"into_nodes_keys", bound.volumes->into_nodes},
      {"most_into_one_rank_keys", bound.volumes->most_into_one_rank},
      {"any_plan_keys", bound.volumes->any_plan},
  };
}

Json peer_json(const PeerResult& peer) {
  return {
      {"peer", peer.peer},
      {"planning_seconds", number(peer.planning_seconds)},
      {"direct_over_bound", number(peer.direct_over_bound)},
      {"hierarchical_over_bound", number(peer.hierarchical_over_bound)},
  };
}

Json run_json(const PlannerBench& bench, const PlannerRun& run) {
  Json json = {
      {"instance", run.instance},
      {"tokens", run.tokens},
      {"documents", run.documents},
      {"ranks", run.ranks},
      {"placement_seconds", run.placement_seconds},
      {"lowering_seconds", run.lowering_seconds},
      {"cost_over_mean", run.cost_over_mean()},
      {"pairs_over_mean", run.traffic.cost_over_mean(0)},
      {"tokens_over_mean", run.traffic.tokens_over_mean()},
      {"within_cap", run.within_cap},
      {"most_received_keys", run.traffic.most_received()},
      {"received_keys", run.traffic.received()},
      {"into_nodes_keys", run.traffic.entered()},
      {"direct_seconds", run.direct_seconds},
      {"hierarchical_seconds", run.hierarchical_seconds},
      {"simulated_seconds", number(run.simulated_seconds)},
      {"direct_over_bound", run.direct_over_bound()},
      {"hierarchical_over_bound", run.hierarchical_over_bound()},
      {"simulated_over_bound", number(run.simulated_over_bound())},
      {"received_over_row_atomic", number(run.over_row_atomic())},
      {"received_over_coupled", number(run.over_coupled())},
      {"bound", bound_json(run.bound)},
      {"best_peer", Json()},
      {"peers", Json::array()},
  };
  if (const PeerResult* best = bench.best_peer(run)) json["best_peer"] = best->peer;
  for (const PeerResult* peer : bench.peers_of(run)) json["peers"].push_back(peer_json(*peer));
  return json;
}

Json spread_json(const std::optional<Spread>& spread) {
  return spread ? Json{{"values", spread->values}, {"median", spread->median}, {"largest", spread->largest}} : Json();
}

Json summary_json(const PlannerSummary& summary, int ranks) {
  return {
      {"planner", summary.planner},
      {"ranks", ranks},
      {"instances", summary.instances},
      {"planning_seconds", spread_json(summary.planning_seconds)},
      {"direct_over_bound", spread_json(summary.direct_over_bound)},
      {"hierarchical_over_bound", spread_json(summary.hierarchical_over_bound)},
      {"simulated_over_bound", spread_json(summary.simulated_over_bound)},
  };
}

}  // namespace

Json planner_bench_json(const PlannerBench& bench) {
  const StrategyOptions& exchange = bench.rules.exchange;
  Json json = {
      {"folder", bench.folder},
      {"token_cap", bench.rules.token_cap},
      {"exchange", to_string(*exchange.exchange)},
      {"stages", exchange.stages > 0 ? Json(exchange.stages) : Json()},
      {"ranks", bench.ranks},
      {"ranks_per_node", kBenchRanksPerNode},
      {"results", Json::array()},
      {"summaries", Json::array()},
  };
  for (const PlannerRun& run : bench.runs) json["results"].push_back(run_json(bench, run));
  for (const int ranks : bench.ranks) {
    if (bench.runs_on(ranks).empty()) continue;
    for (const PlannerSummary& summary : summaries(bench, ranks)) json["summaries"].push_back(summary_json(summary, ranks));
  }
  return json;
}

}  // namespace hsap
