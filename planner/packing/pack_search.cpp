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

/// A way to pack, into micro-batches of at most so many tokens.
using Pack = StepPacking (*)(const StepModel&, const std::vector<Token>&, Token);

/// The different packings of a batch: with room for the placement first.
std::vector<PackedStep> candidates_of(Pack pack, const StepModel& model, const std::vector<Token>& lengths) {
  std::vector<PackedStep> steps;
  for (const Token most_tokens : {model.roomy_capacity(), model.capacity()}) {
    StepPacking packing = pack(model, lengths, most_tokens);
    if (steps.empty() || packing != steps.front().packing) steps.push_back(modelled_step(model, std::move(packing), lengths));
  }
  return steps;
}

/// The first one, unless a later one is clearly faster; what is planned counts to the last digit.
PackedStep best_of(std::vector<PackedStep> steps) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < steps.size(); ++i)
    if (seconds_of(steps[i]) < seconds_of(steps[best]) * (steps[i].planned ? 1 : 1 - kAlike)) best = i;
  return std::move(steps[best]);
}

std::string named(const Mesh& mesh) { return "DP " + std::to_string(mesh.replicas) + " x SP " + std::to_string(mesh.ranks); }

class Searcher {
 public:
  Searcher(const PackRequest& request, const ClusterTopology& cluster, const PackProgress& progress)
      : request_(request), cluster_(cluster), progress_(progress), longest_(longest_of(request.batches)) {}

  PackResult run() {
    PackResult result;
    for (const int replicas : request_.replicas) result.meshes.push_back(packed_on(make_mesh(cluster_, replicas)));
    choose(result);
    return result;
  }

 private:
  MeshResult packed_on(Mesh mesh) {
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
    std::optional<StepPlanner> planner;
    if (request_.evaluator) planner.emplace(model, request_.linear_parameters, cluster_, request_.evaluator);
    for (const std::vector<Token>& lengths : request_.batches) {
      const auto best = [&](Pack pack) {
        std::vector<PackedStep> steps = candidates_of(pack, model, lengths);
        if (planner) plan(*planner, lengths, result.mesh, steps);
        ++done_;
        return best_of(std::move(steps));
      };
      result.first_fit.push_back(best(first_fit_packing));
      result.packed.push_back(best(pack_by_cost));
      if (seconds_of(result.first_fit.back()) < seconds_of(result.packed.back()))
        result.packed.back() = result.first_fit.back();
      result.bound_seconds += packing_bound_seconds(model, lengths);
    }
    return result;
  }

  void plan(const StepPlanner& planner, const std::vector<Token>& lengths, const Mesh& mesh, std::vector<PackedStep>& steps) {
    for (PackedStep& step : steps)
      step.planned = planner.plan(step.packing, lengths, [&] {
        if (progress_)
          progress_(done_, 2 * request_.replicas.size() * request_.batches.size(),
                    named(mesh) + ", micro-batch " + std::to_string(++planned_));
      });
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
  std::size_t done_ = 0;     ///< batches on a mesh, packed by cost or first-fit
  std::size_t planned_ = 0;  ///< micro-batches
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
