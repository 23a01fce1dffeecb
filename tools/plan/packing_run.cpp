#include "tools/plan/packing_run.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "planner/ir/errors.hpp"
#include "tools/command_line.hpp"
#include "tools/plan/evaluators.hpp"
#include "tools/plan/ranking.hpp"
#include "tools/progress_line.hpp"
#include "tools/terminal.hpp"

namespace hsap {

namespace {

constexpr const char* kNoEvaluator = "none";

MakeEvaluator evaluator_of(const std::string& name) {
  if (name == kNoEvaluator) return {};
  return [name](const ClusterTopology& cluster, const KernelTimes& kernels) { return make_evaluator(name, cluster, kernels); };
}

/// Throws InvalidInput for an evaluator that is not known, before anything is read.
void check_evaluator(const std::string& name) {
  if (name != kNoEvaluator && name != "estimate" && name != "simulate")
    throw InvalidInput("--evaluator " + name +
                       ": expected estimate (no contention), simulate (shared links) or none (the step "
                       "model alone)");
}

std::function<Token(int)> room_of_ranks(const PackOptions& options, const ChosenCluster& cluster, const ChosenLayer& layer) {
  if (options.tokens_per_rank) return [tokens = *options.tokens_per_rank](int) { return tokens; };
  return [&](int ranks) {
    try {
      const Token tokens = most_tokens_of_a_rank(rank_memory(layer.model, layer.kind, cluster.topology, ranks));
      if (tokens < 1) throw InvalidInput("no token fits beside the states of the model");
      return tokens;
    } catch (const InvalidInput& error) {
      throw InvalidInput("replicas of " + std::to_string(ranks) + " ranks: " + error.what() + "; or give --tokens-per-rank");
    }
  };
}

}  // namespace

void add_pack_options(CLI::App& command, PackOptions& options) {
  add_input_options(command, options.inputs);
  command.get_option("--tokens")->description("Tokens of one global batch (default 131072)");
  command.get_option("--batch")->description("The first global batch that is packed, from 0");
  const std::string group = "Packing";
  command.add_option("--batches", options.batches, "Global batches that are packed, one after the other (default 1)")
      ->type_name("N")
      ->check(kWholeNumber)
      ->group(group);
  command
      .add_option("--dp", options.replicas,
                  "Replicas, which divide the GPUs, and the pool of all GPUs beside them (default: every number)")
      ->type_name("N")
      ->check(kWholeNumber)
      ->group(group);
  command
      .add_option("--tokens-per-rank", options.tokens_per_rank,
                  "Most tokens of a micro-batch that a rank holds (default: what its memory has room for)")
      ->type_name("N")
      ->check(kWholeNumber)
      ->group(group);
  command
      .add_option(
          "--evaluator", options.evaluator,
          "Predictor of the times of micro-batches, each really planned by strategy hsap: estimate (no contention), simulate "
          "(shared links), or none (the step model alone); default " +
              options.evaluator)
      ->type_name("NAME")
      ->group(group);
  command
      .add_option("--objective", options.objective,
                  "Pack by the time of the whole layer (layer: attention and linear work) or of attention alone (attention); "
                  "default " +
                      options.objective)
      ->type_name("NAME")
      ->group(group);
  command
      .add_flag("--barrier", options.barrier,
                "The ranks of a replica wait for each other between attention and linear work, as with experts or tensor "
                "parallelism across them")
      ->group(group);
}

PackRun run_packing(const PackOptions& options) {
  check_evaluator(options.evaluator);
  const Objective objective = parse_objective(options.objective);
  if (options.tokens_per_rank == Token{0}) throw InvalidInput("--tokens-per-rank 0: expected at least 1");
  PackRun run{read_cluster(options.inputs.cluster, options.inputs.gpus),
              read_layer(options.inputs),
              read_global_batches(options.inputs, options.batches),
              {},
              {},
              {}};
  const ClusterTopology& cluster = run.cluster.topology;
  const KernelTimes kernels(cluster);
  LinearWork work = objective == Objective::layer ? linear_work_of(run.layer.kind, objective, cluster, kernels) : LinearWork{};
  work.barrier = options.barrier;
  run.costs = step_costs(run.layer.kind.attention, work, cluster, kernels);
  run.kernel_provenance = kernels.provenance();

  PackRequest request;
  request.costs = run.costs;
  request.linear_parameters = objective == Objective::layer ? *run.layer.kind.linear_parameters : 0;
  request.batches = run.batches.lengths;
  request.replicas = possible_replicas(cluster);
  if (options.replicas) {
    make_mesh(cluster, *options.replicas);  // refuses numbers that do not divide the GPUs
    request.replicas = *options.replicas == 1 ? std::vector<int>{1} : std::vector<int>{1, *options.replicas};
  }
  request.tokens_per_rank = room_of_ranks(options, run.cluster, run.layer);
  request.evaluator = evaluator_of(options.evaluator);
  ProgressLine progress;
  run.result = search_packings(request, cluster, [&](std::size_t done, std::size_t total, const std::string& what) {
    progress.show(done, total, what);
  });
  if (!run.result.chosen) throw InvalidInput(run.result.meshes.front().refusal);
  return run;
}

std::string PackRun::description(std::uint64_t seed) const {
  std::string text = described(cluster) + described(layer);
  for (const std::vector<std::string>& remarks : {cluster.topology.remarks(), layer.model.remarks})
    for (const std::string& remark : remarks) text += labelled("note", 9, remark) + "\n";
  return text + batches.description(seed);
}

Share& Share::operator+=(const Share& other) {
  documents += other.documents;
  tokens += other.tokens;
  longest = std::max(longest, other.longest);
  pairs += other.pairs;
  cost += other.cost;
  return *this;
}

Share share_of(const MicroBatch& micro_batch, const std::vector<Token>& lengths, const StepCosts& costs) {
  Share share;
  for (const std::size_t document : micro_batch) {
    const Token length = lengths[document];
    share += {1, length, length, costs.shape.mask.pairs(length, length), costs.document_seconds(length)};
  }
  return share;
}

Share share_of(const Replica& replica, const std::vector<Token>& lengths, const StepCosts& costs) {
  Share share;
  for (const MicroBatch& micro_batch : replica) share += share_of(micro_batch, lengths, costs);
  return share;
}

Balance balance_of(const std::vector<PackedStep>& steps, const PackRun& run) {
  Balance balance{0, 0};
  for (std::size_t b = 0; b < steps.size(); ++b) {
    Share most, sum;
    for (const Replica& replica : steps[b].packing) {
      const Share share = share_of(replica, run.batches.lengths[b], run.costs);
      most.cost = std::max(most.cost, share.cost);
      most.tokens = std::max(most.tokens, share.tokens);
      sum += share;
    }
    const auto replicas = static_cast<double>(steps[b].packing.size());
    balance.cost += most.cost * replicas / sum.cost / static_cast<double>(steps.size());
    balance.tokens +=
        static_cast<double>(most.tokens) * replicas / static_cast<double>(sum.tokens) / static_cast<double>(steps.size());
  }
  return balance;
}

std::size_t most_micro_batches(const std::vector<PackedStep>& steps) {
  std::size_t most = 0;
  for (const PackedStep& step : steps)
    for (const Replica& replica : step.packing) most = std::max(most, replica.size());
  return most;
}

double gain_over(double first_fit_seconds, double seconds) { return first_fit_seconds / seconds - 1; }

}  // namespace hsap
