// The plan file: a proved Schedule, what it was made for, and what was predicted. hsap-plan writes it, hsap-run executes it.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "planner/cost/linear_work.hpp"
#include "planner/ir/schedule.hpp"
#include "planner/search/objective.hpp"
#include "planner/strategies/strategy.hpp"
#include "tools/planning_inputs.hpp"

namespace hsap {

inline constexpr int kPlanFileVersion = 1;

struct PhaseSeconds {
  double forward_seconds = 0;
  double backward_seconds = 0;
};

/// Predicted seconds of one layer's attention, and by what.
struct Prediction {
  std::string evaluator;  ///< "simulate" or "estimate"
  std::string device;     ///< "H100 SXM"
  double forward_seconds = 0;
  double backward_seconds = 0;
  std::optional<PhaseSeconds> layer = {};  ///< of the whole layer, where its linear work is known
};

struct PlanFile {
  std::string cluster_name;
  std::string cluster_text;  ///< YAML, so that the plan can be simulated again anywhere
  std::vector<GpuId> gpus;   ///< numbered in the whole cluster
  std::string model;
  std::string layer;                ///< kind of layer
  std::optional<std::string> mask;  ///< the rule that was asked for in place of the layer's
  BatchRecipe recipe;
  StrategyOptions options;
  /// What it was chosen and placed by. Plans written before layers were ranked do not say it: attention.
  Objective objective = Objective::attention;
  bool barrier = false;                     ///< between attention and linear work
  std::optional<double> linear_parameters;  ///< LayerKind::linear_parameters, where they are known
  Prediction predicted;
  /// cu_seqlens of the batch, when the schedule contaminates: when it is made for one document of all tokens, as published code
  /// is that does not look at documents.
  std::optional<std::vector<Token>> contaminated;
  Schedule schedule;  ///< holds strategy, degrees, attention shape, mask rule and document offsets

  /// The mask of the batch, which the results should respect.
  DocumentMask batch_mask() const { return DocumentMask(contaminated.value_or(schedule.mask.offsets()), schedule.mask.rule()); }
  /// What the objective counts beside attention.
  LinearWork linear_work(const KernelTimes& kernels) const;
  /// The GPUs the plan was made for.
  ClusterTopology cluster() const { return parse_cluster(cluster_text, cluster_name, gpus).topology; }
};

/// {"placement": "zigzag", "stages": 2}: what is not left to the strategy.
nlohmann::ordered_json to_json(const StrategyOptions& options);

/// Whole or not at all (whole_file.hpp).
void write_plan_file(const std::filesystem::path& file, const PlanFile& plan);

/// Reads and proves: verify() has passed when this returns. Throws InvalidInput naming file and key.
PlanFile read_plan_file(const std::filesystem::path& file);

/// "hsap 8x2 (cost-cut, 2 stages)".
std::string describe(const std::string& strategy, const Degrees& degrees, const StrategyOptions& options);

}  // namespace hsap
