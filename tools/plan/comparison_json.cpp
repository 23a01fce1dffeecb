#include "tools/plan/comparison_json.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "tools/plan/bound_distance.hpp"
#include "tools/plan_file.hpp"

namespace hsap {

namespace {

using Json = nlohmann::ordered_json;

/// Lengths in tokens; null = unlimited, or no blocks.
Json mask_json(const MaskRule& rule) {
  const auto length = [](const std::optional<Token>& tokens) { return tokens ? Json(*tokens) : Json(); };
  return {{"rule", to_string(rule)}, {"left", length(rule.left)}, {"right", length(rule.right)},
          {"sinks", rule.sinks},     {"prefix", rule.prefix},     {"chunk", length(rule.chunk)}};
}

Json inputs_json(const PlanningInputs& inputs, const RankingOptions& options, double buffer_bytes) {
  const AttentionShape& shape = inputs.layer.kind.attention;
  return {
      {"cluster", inputs.cluster.topology.name()},
      {"gpus", inputs.cluster.gpus.size()},
      {"nodes", inputs.cluster.topology.nodes()},
      {"device", device_names(inputs.cluster.topology)},
      {"model", inputs.layer.model.name},
      {"layer", inputs.layer.kind.name},
      {"attention",
       {{"kind", to_string(shape.kind)},
        {"query_heads", shape.query_heads},
        {"kv_heads", shape.kv_heads},
        {"qk_dim", shape.qk_dim},
        {"v_dim", shape.v_dim},
        {"dtype", to_string(shape.dtype)},
        {"mask", mask_json(shape.mask)},
        {"decay", shape.decay}}},
      {"lengths", inputs.batch.recipe.lengths},
      {"tokens", inputs.batch.recipe.tokens},
      {"tokens_used", inputs.batch.batch.tokens()},
      {"documents", inputs.batch.batch.documents()},
      {"batch", inputs.batch.recipe.batch},
      {"batches", inputs.batch.batches},
      {"seed", inputs.batch.recipe.seed},
      {"linear_parameters", inputs.layer.kind.linear_parameters ? Json(*inputs.layer.kind.linear_parameters) : Json()},
      {"evaluator", options.evaluator},
      {"objective", options.objective},
      {"barrier", options.barrier},
      {"buffer_bytes", std::isfinite(buffer_bytes) ? Json(buffer_bytes) : Json()},
      {"remarks", inputs.remarks()},
  };
}

Json outcome_json(const Outcome& outcome, bool layer_known) {
  const auto number = [&](double value) { return outcome.valid ? Json(value) : Json(); };
  return {
      {"strategy", outcome.strategy},
      {"attention", to_string(outcome.attention)},
      {"degrees", to_string(outcome.degrees)},
      {"options", to_json(outcome.options)},
      {"valid", outcome.valid},
      {"reason", outcome.reason},
      {"contaminates", outcome.contamination ? Json{{"wrong_pairs", outcome.contamination->wrong_pairs},
                                                    {"wasted_flops", outcome.contamination->wasted_flops}}
                                             : Json()},
      {"forward_seconds", number(outcome.forward_seconds)},
      {"backward_seconds", number(outcome.backward_seconds)},
      {"layer_forward_seconds", layer_known ? number(outcome.layer_forward_seconds) : Json()},
      {"layer_backward_seconds", layer_known ? number(outcome.layer_backward_seconds) : Json()},
      {"exposed_communication_seconds", number(outcome.exposed_communication_seconds)},
      {"bytes_sent_busiest_rank", number(outcome.bytes_sent_busiest_rank)},
      {"bytes_between_nodes", number(outcome.bytes_between_nodes)},
      {"peak_memory_bytes", number(outcome.peak_memory_bytes)},
      {"communication_buffer_bytes", number(outcome.communication_buffer_bytes)},
      {"seconds_for_buffer", number(outcome.seconds_for_buffer)},
      {"fits", outcome.valid ? Json(outcome.fits) : Json()},
      {"over_bound", number(outcome.over_bound)},
  };
}

Json bounds_json(const Comparison& comparison) {
  Json bounds = Json::array();
  for (const LowerBound& bound : comparison.bounds) bounds.push_back({{"name", bound.name}, {"seconds", bound.seconds}});
  return bounds;
}

Json best_causes_json(const Comparison& comparison) {
  if (!comparison.best_causes) return nullptr;
  return {{"forward", causes_json(comparison.best_causes->forward)},
          {"backward", causes_json(comparison.best_causes->backward)}};
}

}  // namespace

Json comparison_json(const PlanningInputs& inputs, const Ranking& ranking, const RankingOptions& options) {
  const Comparison& comparison = ranking.comparison;
  Json json = {
      {"inputs", inputs_json(inputs, options, ranking.problem.buffer_bytes)},
      {"lower_bound_seconds", comparison.lower_bound_seconds()},
      {"bounds", bounds_json(comparison)},
      {"best", comparison.best ? Json(comparison.outcomes[*comparison.best].strategy) : Json()},
      {"best_causes", best_causes_json(comparison)},
      {"results", Json::array()},
  };
  for (const Outcome& outcome : comparison.outcomes)
    json["results"].push_back(outcome_json(outcome, ranking.linear_parameters.has_value()));
  return json;
}

}  // namespace hsap
