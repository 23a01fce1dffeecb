#include "tools/plan/explanation_json.hpp"

#include <nlohmann/json.hpp>

#include "tools/plan/bound_distance.hpp"

namespace hsap {

namespace {

using Json = nlohmann::ordered_json;

Json roles_json(const std::vector<Role>& roles) {
  Json json = Json::array();
  for (const Role role : roles) json.push_back(to_string(role));
  return json;
}

Json spread_json(const std::vector<double>& values) {
  const Spread spread = spread_of(values);
  return {{"least", spread.least},         {"least_rank", spread.least_rank},      {"mean", spread.mean}, {"most", spread.most},
          {"most_rank", spread.most_rank}, {"most_over_mean", spread.imbalance()}, {"by_rank", values}};
}

Json plan_json(const ExplainedPlan& explained) {
  const PlanFile& plan = explained.plan;
  return {{"strategy", plan.schedule.strategy},
          {"degrees", to_string(plan.schedule.degrees)},
          {"options", to_json(plan.options)},
          {"ranks", plan.schedule.ranks.size()},
          {"model", plan.model},
          {"layer", plan.layer},
          {"attention", describe(plan.schedule.shape)},
          {"mask", to_string(plan.schedule.mask.rule())},
          {"lengths", plan.recipe.lengths},
          {"seed", plan.recipe.seed},
          {"batch", plan.recipe.batch},
          {"tokens", plan.batch_mask().tokens()},
          {"documents", plan.batch_mask().documents()},
          {"cluster", explained.cluster.name()},
          {"nodes", explained.cluster.nodes()},
          {"device", device_names(explained.cluster)},
          {"contaminated", plan.contaminated.has_value()}};
}

Json placement_json(const PlacementFacts& placement) {
  Json documents = Json::array();
  for (const DocumentPlacement& document : placement.documents)
    documents.push_back({{"document", document.document},
                         {"tokens", document.tokens},
                         {"ranks", document.ranks},
                         {"pieces", document.pieces},
                         {"largest_share_tokens", document.largest_share},
                         {"largest_share_rank", document.largest_share_rank}});
  return {{"documents_on_one_rank", placement.documents_on_one_rank},
          {"tokens", spread_json(placement.tokens_owned)},
          {"pairs", spread_json(placement.pairs_computed)},
          {"documents", std::move(documents)}};
}

Json traffic_json(const PhaseTraffic& traffic) {
  Json rounds = Json::array();
  for (const RoundTraffic& round : traffic.rounds)
    rounds.push_back({{"step", round.step},
                      {"stream", round.stream},
                      {"roles", roles_json(round.roles)},
                      {"senders", round.senders},
                      {"most_peers", round.most_peers},
                      {"messages", round.messages},
                      {"bytes", round.bytes},
                      {"messages_between_nodes", round.messages_between_nodes},
                      {"bytes_between_nodes", round.bytes_between_nodes},
                      {"largest_message_bytes", round.largest_bytes},
                      {"largest_message_from", round.largest_from},
                      {"largest_message_to", round.largest_to}});
  return {{"messages", traffic.messages},
          {"bytes", traffic.bytes},
          {"bytes_between_nodes", traffic.bytes_between_nodes},
          {"bytes_sent", spread_json(traffic.bytes_sent)},
          {"rounds", std::move(rounds)}};
}

Json delivery_json(const std::optional<Delivery>& delivery) {
  if (!delivery) return nullptr;
  return {{"from", delivery->from}, {"to", delivery->to}, {"roles", roles_json(delivery->roles)}};
}

Json waits_json(const RankWaits& waits) {
  Json causes = Json::array();
  for (const Wait& wait : waits.waits) causes.push_back({{"seconds", wait.seconds}, {"message", delivery_json(wait.delivery)}});
  return {{"rank", waits.rank}, {"seconds", waits.seconds}, {"waits", std::move(causes)}};
}

Json phase_waits_json(const PhaseExplanation& phase) {
  Json path = Json::array();
  for (const PathStep& step : phase.critical_path)
    path.push_back({{"begin_seconds", step.begin},
                    {"end_seconds", step.end},
                    {"rank", step.rank},
                    {"op", step.op},
                    {"kind", step.kind},
                    {"message", delivery_json(step.delivery)}});
  return {{"critical_path", std::move(path)},
          {"idle_seconds_by_rank", phase.idle_seconds},
          {"most_waiting", waits_json(phase.most_waiting)},
          {"least_waiting", waits_json(phase.least_waiting)}};
}

Json memory_json(const MemoryFacts& memory, const Schedule& schedule) {
  Json terms = Json::array();
  for (const MemoryTerm& term : memory.terms) {
    const Buffer& buffer = schedule.buffer(memory.rank, term.buffer);
    terms.push_back({{"buffer", buffer.name.text()},
                     {"role", to_string(buffer.role)},
                     {"tokens", schedule.tokens(buffer.tokens).size()},
                     {"heads", buffer.heads.size()},
                     {"bytes", term.bytes},
                     {"kept_for_backward", term.saved}});
  }
  return {{"rank", memory.rank},
          {"peak_bytes", memory.use.peak_bytes},
          {"peak_phase", to_string(memory.use.peak_phase)},
          {"kept_for_backward_bytes", memory.use.saved_bytes},
          {"terms", std::move(terms)}};
}

Json program_json(const ExplainedPlan& explained) {
  if (!explained.rank) return nullptr;
  Json ops = Json::array();
  for (const RankOp& op : rank_program(explained.plan.schedule, *explained.rank, explained.timeline)) {
    Json json = {{"phase", to_string(op.phase)}, {"op", op.op},     {"step", op.step},
                 {"stream", op.stream},          {"kind", op.kind}, {"roles", roles_json(op.roles)}};
    if (op.kind == "exchange")
      json.update({{"to", op.to},
                   {"from", op.from},
                   {"tokens_sent", op.rows_sent},
                   {"tokens_received", op.rows_received},
                   {"bytes_sent", op.bytes_sent},
                   {"bytes_received", op.bytes_received}});
    else
      json.update({{"tokens_written", op.rows_written}, {"bytes_touched", op.bytes_touched}});
    json.update({{"begin_seconds", op.time.begin}, {"end_seconds", op.time.end}});
    ops.push_back(std::move(json));
  }
  return {{"rank", *explained.rank}, {"ops", std::move(ops)}};
}

}  // namespace

Json explanation_json(const ExplainedPlan& explained) {
  const Explanation& facts = explained.explanation;
  const auto by_phase = [&](auto&& json) { return Json{{"forward", json(facts.forward)}, {"backward", json(facts.backward)}}; };
  return {{"plan", plan_json(explained)},
          {"predicted",
           {{"evaluator", explained.evaluator},
            {"forward_seconds", explained.timeline.forward.seconds()},
            {"backward_seconds", explained.timeline.backward.seconds()},
            {"objective", to_string(explained.plan.objective)},
            {"objective_seconds", explained.seconds()},
            {"lower_bound_seconds", explained.bound_seconds()}}},
          {"placement", placement_json(facts.placement)},
          {"exchange", by_phase([](const PhaseExplanation& phase) { return traffic_json(phase.traffic); })},
          {"program", program_json(explained)},
          {"waits", by_phase([](const PhaseExplanation& phase) { return phase_waits_json(phase); })},
          {"memory", memory_json(facts.memory, explained.plan.schedule)},
          {"causes", by_phase([](const PhaseExplanation& phase) { return causes_json(phase.causes); })}};
}

}  // namespace hsap
