// The search over meshes: how many replicas, or one pool, for global batches that are trained one after the other. For each
// number of replicas documents are packed by cost and, to compare with, first-fit, each into micro-batches that fill memory and
// into such that leave the placement some room (StepModel::roomy_capacity). The best is kept, so that a packing is never slower
// than first-fit on its mesh. A predictor, where one is given, has the last word, on real plans of them all.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "planner/packing/packing.hpp"
#include "planner/packing/planned_step.hpp"
#include "planner/packing/step_model.hpp"

namespace hsap {

struct PackRequest {
  StepCosts costs;
  double linear_parameters = 0;  ///< LayerKind's; 0 for attention alone
  /// [batch] lengths of its documents, each at least 1; at least one document in each batch.
  std::vector<std::vector<Token>> batches;
  std::vector<int> replicas;                  ///< numbers to try, each dividing the GPUs
  std::function<Token(int)> tokens_per_rank;  ///< by ranks of a replica; may throw InvalidInput: does not work there
  MakeEvaluator evaluator;                    ///< empty: by the step model alone
};

/// One global batch on one mesh.
struct PackedStep {
  StepPacking packing;
  std::vector<std::vector<double>> seconds;  ///< modelled, [replica][micro-batch]
  std::optional<PlannedStep> planned;        ///< with an evaluator

  double step_seconds() const;
};

/// All global batches on one mesh.
struct MeshResult {
  Mesh mesh;
  Token tokens_per_rank = 0;
  std::string refusal;                ///< why this mesh does not work; everything below is empty then
  std::vector<PackedStep> first_fit;  ///< [batch]
  std::vector<PackedStep> packed;     ///< [batch]
  double bound_seconds = 0;           ///< of all steps: packing_bound_seconds()

  bool works() const { return refusal.empty(); }
};
/// Of all batches: as the predictor has it where there is one, else modelled.
double total_seconds(const std::vector<PackedStep>& steps);
/// Of all batches, by the step model.
double modelled_seconds(const std::vector<PackedStep>& steps);

struct PackResult {
  std::vector<MeshResult> meshes;     ///< as asked for
  std::optional<std::size_t> chosen;  ///< the fastest; of those that are alike, the one with most replicas

  /// The mesh on which first-fit does best, of those with more than one replica where there are any: what a data loader could
  /// be set to.
  std::optional<std::size_t> best_first_fit() const;
};

/// Called as micro-batches are planned: how many times a batch has been packed on a mesh, of how many, and what was planned.
using PackProgress = std::function<void(std::size_t, std::size_t, const std::string&)>;

/// Microseconds per document without an evaluator. Throws InvalidInput for a number of replicas that does not divide the GPUs,
/// and for a document without tokens.
PackResult search_packings(const PackRequest& request, const ClusterTopology& cluster, const PackProgress& progress = {});

}  // namespace hsap
