// hsap-plan bench-planner: how long hsap plans known batches and how near to the bounds it gets, beside other planners.
#include <malloc.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "planner/ir/errors.hpp"
#include "tools/command_line.hpp"
#include "tools/plan/commands.hpp"
#include "tools/plan/planner_bench_json.hpp"
#include "tools/plan/planner_bench_text.hpp"
#include "tools/progress_line.hpp"

namespace hsap {

namespace {

namespace fs = std::filesystem;

/// Bytes of heap that stay with the process, as they do with one that plans before every step. By default glibc gives the
/// memory of each schedule back, and planning the next one is mostly page faults.
constexpr int kKeptHeap = 1 << 30;

struct BenchOptions {
  std::string folder;
  std::vector<int> ranks = {8, 32, 128, 512};
  PlannerBenchRules rules;
  std::string instances;  ///< part of the names; empty = all
  std::string peers;      ///< file; empty = peers.csv beside the folder when it is there
  bool json = false;
};

void check_ranks(const std::vector<int>& ranks) {
  for (const int count : ranks)
    if (count < 1 || (count > kBenchRanksPerNode && count % kBenchRanksPerNode != 0))
      throw InvalidInput("--ranks: found " + std::to_string(count) + ", expected 1 to " + std::to_string(kBenchRanksPerNode) +
                         " or a multiple of " + std::to_string(kBenchRanksPerNode) + ": whole nodes");
}

std::vector<PeerResult> peers_for(const BenchOptions& options) {
  if (!options.peers.empty()) return read_peers(options.peers);
  const fs::path beside = fs::path(options.folder) / ".." / "peers.csv";
  return fs::exists(beside) ? read_peers(beside) : std::vector<PeerResult>{};
}

PlannerBench run_bench(const BenchOptions& options) {
  check_ranks(options.ranks);
  const std::vector<BenchInstance> instances = read_bench_instances(options.folder, options.instances);
  PlannerBench bench;
  bench.folder = options.folder;
  bench.rules = options.rules;
  bench.ranks = options.ranks;
  bench.peers = peers_for(options);

  struct Task {
    const BenchInstance& instance;
    int ranks;
  };
  std::vector<Task> tasks;
  for (const int ranks : options.ranks)
    for (const BenchInstance& instance : instances)
      if (is_benched(instance, ranks)) tasks.push_back({instance, ranks});
  if (tasks.empty())
    throw InvalidInput("--ranks: no instance has 2,048 to 131,072 tokens per rank on any of them; " + instances.front().name +
                       " has " + std::to_string(instances.front().mask.tokens()) + " tokens");
  mallopt(M_TRIM_THRESHOLD, kKeptHeap);
  mallopt(M_MMAP_THRESHOLD, kKeptHeap);
  ProgressLine progress;
  for (const Task& task : tasks) {
    progress.show(bench.runs.size(), tasks.size(), task.instance.name + " on " + std::to_string(task.ranks) + " ranks");
    bench.runs.push_back(run_planner(task.instance, task.ranks, options.rules));
  }
  return bench;
}

}  // namespace

void add_bench_planner_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "bench-planner", "Time hsap's planning of known batches and compare it with lower bounds and other planners");
  const auto options = std::make_shared<BenchOptions>();
  command
      ->add_option("dir", options->folder,
                   "Folder with index.json, a list of {\"id\": NAME}, and NAME.json, {\"doc_lens\": [...]}, for each")
      ->type_name("DIR")
      ->required();
  command
      ->add_option("--ranks", options->ranks,
                   "Numbers of ranks; default 8,32,128,512. Instances with 2,048 to 131,072 tokens per rank are run")
      ->type_name("N,...")
      ->delimiter(',')
      ->check(kWholeNumber);
  command->add_option("--cap", options->rules.token_cap, "Most tokens of a rank over the mean; default 1.25")->type_name("X");
  command->add_option("--instances", options->instances, "Only instances whose name contains this")->type_name("TEXT");
  command
      ->add_option(
          "--peers", options->peers,
          "Table (CSV) of what other planners achieved, as planbench/peers.csv has it; default DIR/../peers.csv if it is there")
      ->type_name("FILE");
  command->add_flag("--simulate", options->rules.simulate,
                    "Also run the forward of the layer, as hsap's schedule has it, over shared links (SimGrid)");
  command
      ->add_option("--stages", options->rules.exchange.stages,
                   "Steps in which the schedule's exchange of keys hides behind attention; default: hsap's own")
      ->type_name("N")
      ->check(kWholeNumber)
      ->check(CLI::PositiveNumber);
  command
      ->add_option_function<KvRoute>(
          "--exchange", [options](const KvRoute& route) { options->rules.exchange.exchange = route; },
          "Way of the keys in the schedules: hierarchical (default), once into each node from its holder; rounds, from any "
          "node that has them")
      ->type_name("hierarchical|rounds")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, KvRoute>{{"hierarchical", KvRoute::hierarchical}, {"rounds", KvRoute::rounds}}));
  command->add_flag("--json", options->json, "Print JSON with everything instead of tables");
  command->footer("Example:\n  hsap-plan bench-planner planbench/inputs --ranks 8,32 --instances 64k");
  command->callback([options] {
    const PlannerBench bench = run_bench(*options);
    if (options->json)
      std::cout << planner_bench_json(bench).dump(2) << '\n';
    else
      std::cout << planner_bench_text(bench);
  });
}

}  // namespace hsap
