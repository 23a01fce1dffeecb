#include "tools/plan/packing_json.hpp"

#include <nlohmann/json.hpp>

namespace hsap {

namespace {

using Json = nlohmann::ordered_json;

std::string scheme_of(const Mesh& mesh) { return mesh.replicas == 1 ? "pool" : "replicas"; }

Json share_json(const Share& share) {
  return {{"documents", share.documents}, {"tokens", share.tokens}, {"longest", share.longest}, {"pairs", share.pairs}};
}

Json steps_json(const std::vector<PackedStep>& steps, const PackRun& run) {
  const Balance balance = balance_of(steps, run);
  const bool planned = steps.front().planned.has_value();
  Json json = {{"modelled_seconds", modelled_seconds(steps)},
               {"planned_seconds", planned ? Json(total_seconds(steps)) : Json()},
               {"most_micro_batches", most_micro_batches(steps)},
               {"cost_over_mean", balance.cost},
               {"tokens_over_mean", balance.tokens}};
  return json;
}

Json mesh_json(const MeshResult& mesh, const PackRun& run) {
  Json json = {{"scheme", scheme_of(mesh.mesh)}, {"dp", mesh.mesh.replicas}, {"sp", mesh.mesh.ranks}, {"reason", mesh.refusal}};
  if (!mesh.works()) return json;
  json["tokens_per_rank"] = mesh.tokens_per_rank;
  json["bound_seconds"] = mesh.bound_seconds;
  json["packed"] = steps_json(mesh.packed, run);
  json["first_fit"] = steps_json(mesh.first_fit, run);
  json["gain"] = gain_over(total_seconds(mesh.first_fit), total_seconds(mesh.packed));
  json["modelled_gain"] = gain_over(modelled_seconds(mesh.first_fit), modelled_seconds(mesh.packed));
  return json;
}

Json replica_json(const PackRun& run, std::size_t b, std::size_t replica) {
  const PackedStep& step = run.chosen().packed[b];
  Json json = share_json(share_of(step.packing[replica], run.batches.lengths[b], run.costs));
  json["micro_batches"] = Json::array();
  for (std::size_t m = 0; m < step.packing[replica].size(); ++m) {
    Json micro_batch = share_json(share_of(step.packing[replica][m], run.batches.lengths[b], run.costs));
    micro_batch["modelled_seconds"] = step.seconds[replica][m];
    if (step.planned) {
      const PlannedMicroBatch& planned = step.planned->replicas[replica][m];
      micro_batch["planned_seconds"] = planned.seconds;
      micro_batch["degrees"] = to_string(planned.degrees);
      micro_batch["most_tokens_of_a_rank"] = planned.most_tokens;
      micro_batch["peak_memory_bytes"] = planned.peak_memory_bytes;
    }
    json["micro_batches"].push_back(std::move(micro_batch));
  }
  return json;
}

Json inputs_json(const PackRun& run, const PackOptions& options) {
  return {
      {"cluster", run.cluster.topology.name()},
      {"gpus", run.cluster.gpus.size()},
      {"nodes", run.cluster.topology.nodes()},
      {"model", run.layer.model.name},
      {"layer", run.layer.kind.name},
      {"mask", to_string(run.layer.kind.attention.mask)},
      {"lengths", run.batches.source},
      {"tokens", run.batches.tokens},
      {"batch", run.batches.first},
      {"batches", run.batches.lengths.size()},
      {"seed", options.inputs.seed},
      {"evaluator", options.evaluator},
      {"objective", options.objective},
      {"barrier", options.barrier},
      {"remarks", run.batches.remarks},
  };
}

}  // namespace

Json packing_report_json(const PackRun& run, const PackOptions& options) {
  const MeshResult& best_first_fit = run.result.meshes[*run.result.best_first_fit()];
  Json json = {{"inputs", inputs_json(run, options)}, {"meshes", Json::array()}};
  for (const MeshResult& mesh : run.result.meshes) json["meshes"].push_back(mesh_json(mesh, run));
  json["chosen"] = mesh_json(run.chosen(), run);
  json["chosen"]["gain_over_best_first_fit"] =
      gain_over(total_seconds(best_first_fit.first_fit), total_seconds(run.chosen().packed));
  json["best_first_fit_dp"] = best_first_fit.mesh.replicas;
  json["batches"] = Json::array();
  for (std::size_t b = 0; b < run.batches.lengths.size(); ++b) {
    const PackedStep& step = run.chosen().packed[b];
    Json batch = {{"batch", run.batches.first + b},
                  {"modelled_seconds", step.step_seconds()},
                  {"planned_seconds", step.planned ? Json(step.planned->seconds()) : Json()},
                  {"replicas", Json::array()}};
    for (std::size_t r = 0; r < step.packing.size(); ++r) batch["replicas"].push_back(replica_json(run, b, r));
    json["batches"].push_back(std::move(batch));
  }
  return json;
}

Json packing_file_json(const PackRun& run, const PackOptions& options) {
  const MeshResult& chosen = run.chosen();
  Json json = {{"version", kPackingFileVersion}, {"inputs", inputs_json(run, options)},       {"dp", chosen.mesh.replicas},
               {"sp", chosen.mesh.ranks},        {"tokens_per_rank", chosen.tokens_per_rank}, {"batches", Json::array()}};
  for (std::size_t b = 0; b < run.batches.lengths.size(); ++b) {
    Json batch = {{"batch", run.batches.first + b}, {"replicas", Json::array()}};
    for (std::size_t r = 0; r < chosen.packed[b].packing.size(); ++r) {
      const auto gpu = run.cluster.gpus.begin() + static_cast<std::ptrdiff_t>(r) * chosen.mesh.ranks;
      Json replica = {{"gpus", std::vector<GpuId>(gpu, gpu + chosen.mesh.ranks)}, {"micro_batches", Json::array()}};
      for (const MicroBatch& micro_batch : chosen.packed[b].packing[r]) {
        std::vector<std::size_t> documents;
        std::vector<Token> offsets = {0};
        for (const std::size_t document : micro_batch) {
          documents.push_back(run.batches.first_document[b] + document);
          offsets.push_back(offsets.back() + run.batches.lengths[b][document]);
        }
        replica["micro_batches"].push_back({{"documents", documents}, {"cu_seqlens", offsets}});
      }
      batch["replicas"].push_back(std::move(replica));
    }
    json["batches"].push_back(std::move(batch));
  }
  return json;
}

}  // namespace hsap
