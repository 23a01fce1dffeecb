#include "planner/packing/pack_search.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "planner/ir/errors.hpp"
#include "planner/ir/units.hpp"
#include "planner/packing/first_fit.hpp"
#include "planner/packing/pack_by_cost.hpp"
#include "planner/packing/packing_bound.hpp"

namespace hsap {

namespace {

/// Steps that differ by less are alike: the model and the predictors are no more exact than that.
constexpr double kAlike = 0.002;

struct LongestDocument {
  std::size_t batch = 0, document = 0;
  Token tokens = 0;
};

LongestDocument longest_of(const std::vector<std::vector<Token>>& batches) {
  LongestDocument longest;
  for (std::size_t b = 0; b < batches.size(); ++b)
    for (std::size_t d = 0; d < batches[b].size(); ++d)
      if (batches[b][d] > longest.tokens) longest = {b, d, batches[b][d]};
  return longest;
}

void check(const PackRequest& request) {
  if (request.batches.empty()) throw InvalidInput("packing: found no global batch, expected at least 1");
  for (std::size_t b = 0; b < request.batches.size(); ++b) {
    const auto& lengths = request.batches[b];
    if (lengths.empty()) throw InvalidInput("packing: global batch " + std::to_string(b) + " has no document");
    for (std::size_t d = 0; d < lengths.size(); ++d)
      if (lengths[d] < 1)
        throw InvalidInput("packing: document " + std::to_string(d) + " of global batch " + std::to_string(b) + " has " +
                           std::to_string(lengths[d]) + " tokens, expected at least 1");
  }
}

PackedStep modelled_step(const StepModel& model, StepPacking packing, const std::vector<Token>& lengths) {
  PackedStep step{std::move(packing), {}, {}};
  for (std::size_t replica = 0; replica < step.packing.size(); ++replica) {
    step.seconds.emplace_back();
    for (const MicroBatch& micro_batch : step.packing[replica])
      step.seconds.back().push_back(model.micro_batch_seconds(replica, lengths_of(micro_batch, lengths)));
  }
  return step;
}

double seconds_of(const PackedStep& step) { return step.planned ? step.planned->seconds() : step.step_seconds(); }

std::size_t micro_batches_of(const std::vector<PackedStep>& steps) {
  std::size_t count = 0;
  for (const PackedStep& step : steps)
    for (const Replica& replica : step.packing) count += replica.size();
  return count;
}

std::string named(const Mesh& mesh) { return "DP " + std::to_string(mesh.replicas) + " x SP " + std::to_string(mesh.ranks); }

class Searcher {
 public:
  Searcher(const PackRequest& request, const ClusterTopology& cluster, const PackProgress& progress)
      : request_(request), cluster_(cluster), progress_(progress), longest_(longest_of(request.batches)) {}

  PackResult run() {
    PackResult result;
    for (const int replicas : request_.replicas) result.meshes.push_back(packed_on(make_mesh(cluster_, replicas)));
    if (request_.evaluator) measure(result.meshes);
    for (MeshResult& mesh : result.meshes)
      for (std::size_t b = 0; b < mesh.packed.size(); ++b)
        if (seconds_of(mesh.first_fit[b]) < seconds_of(mesh.packed[b])) mesh.packed[b] = mesh.first_fit[b];
    choose(result);
    return result;
  }

 private:
  /// By the model.
  MeshResult packed_on(Mesh mesh) const {
    MeshResult result{std::move(mesh), 0, {}, {}, {}, 0};
    try {
      result.tokens_per_rank = request_.tokens_per_rank(result.mesh.ranks);
    } catch (const InvalidInput& error) {
      result.refusal = error.what();
      return result;
    }
    const StepModel model(request_.costs, result.mesh, result.tokens_per_rank);
    if (longest_.tokens > model.capacity()) {
      result.refusal = too_long(model);
      return result;
    }
    for (const std::vector<Token>& lengths : request_.batches) {
      result.first_fit.push_back(modelled_step(model, first_fit_packing(model, lengths), lengths));
      result.packed.push_back(modelled_step(model, pack_by_cost(model, lengths), lengths));
      result.bound_seconds += packing_bound_seconds(model, lengths);
    }
    return result;
  }

  std::string too_long(const StepModel& model) const {
    const int ranks = model.mesh().ranks;
    return named(model.mesh()) + ": document " + std::to_string(longest_.document) + " of global batch " +
           std::to_string(longest_.batch) + " has " + format_count(longest_.tokens) + " tokens, a replica has room for " +
           format_count(model.capacity()) + " (" + format_count(model.tokens_per_rank()) + " per rank); " +
           what_works((longest_.tokens + ranks - 1) / ranks);
  }

  /// "the largest DP with room is 2, or give 65,536 tokens per rank".
  std::string what_works(Token tokens_per_rank) const {
    int most = 0;
    for (const int replicas : possible_replicas(cluster_)) {
      const int ranks = static_cast<int>(cluster_.gpus()) / replicas;
      try {
        if (request_.tokens_per_rank(ranks) * ranks >= longest_.tokens) most = replicas;
      } catch (const InvalidInput&) {  // no room for the states there
      }
    }
    const std::string more = format_count(tokens_per_rank) + " tokens per rank would do here";
    return most > 0 ? "DP " + std::to_string(most) + " or fewer have room, and " + more : "no DP has room, " + more;
  }

  void measure(std::vector<MeshResult>& meshes) const {
    std::size_t total = 0, done = 0;
    for (const MeshResult& mesh : meshes) total += micro_batches_of(mesh.first_fit) + micro_batches_of(mesh.packed);
    for (MeshResult& mesh : meshes) {
      if (!mesh.works()) continue;
      const auto tell = [&] {
        if (progress_) progress_(done, total, named(mesh.mesh));
      };
      tell();
      const StepPlanner planner(StepModel(request_.costs, mesh.mesh, mesh.tokens_per_rank), request_.linear_parameters,
                                cluster_, request_.evaluator);
      for (std::vector<PackedStep>* steps : {&mesh.first_fit, &mesh.packed})
        for (std::size_t b = 0; b < steps->size(); ++b)
          (*steps)[b].planned = planner.plan((*steps)[b].packing, request_.batches[b], [&] {
            ++done;
            tell();
          });
    }
  }

  static void choose(PackResult& result) {
    std::optional<double> fastest;
    for (const MeshResult& mesh : result.meshes)
      if (mesh.works()) fastest = std::min(fastest.value_or(total_seconds(mesh.packed)), total_seconds(mesh.packed));
    for (std::size_t m = 0; m < result.meshes.size(); ++m) {
      const MeshResult& mesh = result.meshes[m];
      if (!mesh.works() || total_seconds(mesh.packed) > *fastest * (1 + kAlike)) continue;
      if (!result.chosen || mesh.mesh.replicas > result.meshes[*result.chosen].mesh.replicas) result.chosen = m;
    }
  }

  const PackRequest& request_;
  const ClusterTopology& cluster_;
  const PackProgress& progress_;
  LongestDocument longest_;
};

}  // namespace

double PackedStep::step_seconds() const {
  double longest = 0;
  for (const std::vector<double>& replica : seconds)
    longest = std::max(longest, std::accumulate(replica.begin(), replica.end(), 0.0));
  return longest;
}

double total_seconds(const std::vector<PackedStep>& steps) {
  double sum = 0;
  for (const PackedStep& step : steps) sum += seconds_of(step);
  return sum;
}

double modelled_seconds(const std::vector<PackedStep>& steps) {
  double sum = 0;
  for (const PackedStep& step : steps) sum += step.step_seconds();
  return sum;
}

std::optional<std::size_t> PackResult::best_first_fit() const {
  std::optional<std::size_t> best;
  for (const bool pool : {false, true}) {
    for (std::size_t m = 0; m < meshes.size(); ++m) {
      if (!meshes[m].works() || (meshes[m].mesh.replicas == 1) != pool) continue;
      if (!best || total_seconds(meshes[m].first_fit) < total_seconds(meshes[*best].first_fit)) best = m;
    }
    if (best) break;
  }
  return best;
}

PackResult search_packings(const PackRequest& request, const ClusterTopology& cluster, const PackProgress& progress) {
  check(request);
  return Searcher(request, cluster, progress).run();
}

}  // namespace hsap
