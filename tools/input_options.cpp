#include "tools/input_options.hpp"

#include <CLI/CLI.hpp>
#include <charconv>
#include <numeric>
#include <string_view>

#include "planner/ir/errors.hpp"
#include "tools/command_line.hpp"

namespace hsap {

void add_input_options(CLI::App& command, InputOptions& options) {
  const std::string group = "Inputs";
  const auto add = [&](const char* name, auto& value, const std::string& help, const char* type) {
    return command.add_option(name, value, help)->type_name(type)->group(group);
  };
  add("--cluster", options.cluster, "Cluster: a YAML file or a built-in name (default " + std::string(kDefaultCluster) + ")",
      "FILE|NAME");
  add("--model", options.model,
      "Model: a Hugging Face config.json or a built-in name (default " + std::string(kDefaultModel) + ")", "FILE|NAME");
  add("--layer", options.layer, "Kind of layer, for models with several (default: the most frequent)", "KIND");
  add("--decay", options.decay,
      "Decay of a linear layer: scale of the heads' rates, 1 as in the first layer of MiniMax-Text-01, 0 for none (default: "
      "the model's)",
      "X");
  add("--mask", options.mask,
      "Which keys a query sees: causal, full, ahead:N, window:N, window:LEFT,RIGHT, blocks:N, prefix:N; sinks:N beside window "
      "or "
      "blocks (default: what the model's layer has)",
      "RULE");
  add("--lengths", options.lengths,
      "Document lengths: a file or a built-in distribution (default " + std::string(kDefaultLengths) + ")", "FILE|NAME");
  add("--column", options.column, "Column of a CSV or JSONL file of lengths", "NAME");
  add("--gpus", options.gpus, "The first N GPUs of the cluster, or these ones (default: all)", "N|0,1,...");
  add("--tokens", options.tokens, "Tokens of one packed batch (default 131072)", "N")->check(kWholeNumber);
  add("--batch", options.batch, "Which of the packed batches to plan, from 0", "K")->check(kWholeNumber);
  add("--seed", options.seed, "Seed for drawing documents from a distribution (default 0)", "N")->check(kWholeNumber);
}

std::vector<GpuId> parse_gpus(const std::string& text, const ClusterTopology& cluster) {
  const auto refuse = [&](const std::string& problem) {
    return InvalidInput("--gpus " + text + ": " + problem + "; " + cluster.name() + " has " + std::to_string(cluster.gpus()) +
                        " GPUs, give how many to use, or their numbers ascending from 0 such as 0,1,2,3");
  };
  std::vector<GpuId> gpus;
  std::string_view rest = text;
  while (!rest.empty()) {
    GpuId gpu = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), gpu);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    if (error != std::errc() || (!rest.empty() && (rest.front() != ',' || rest.size() == 1)))
      throw refuse("this is no list of numbers");
    if (!gpus.empty() && gpu <= gpus.back())
      throw refuse(std::to_string(gpu) + " does not come after " + std::to_string(gpus.back()));
    gpus.push_back(gpu);
    if (!rest.empty()) rest.remove_prefix(1);
  }
  const bool is_count = gpus.size() == 1;
  if (is_count && (gpus[0] < 1 || gpus[0] > cluster.gpus())) throw refuse("there are not that many");
  if (!is_count && !gpus.empty() && gpus.back() >= cluster.gpus())
    throw refuse("there is no GPU " + std::to_string(gpus.back()));
  if (is_count || gpus.empty()) {
    gpus.resize(is_count ? gpus[0] : cluster.gpus());
    std::iota(gpus.begin(), gpus.end(), 0U);
  }
  return gpus;
}

}  // namespace hsap
