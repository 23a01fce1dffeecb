// The lower bound of one layer's time, and which of its reasons binds: work, links, messages. Each reason is in a file of its
// own in this folder, with its proof.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planner/placement/bounds/latency.hpp"
#include "planner/placement/bounds/topology.hpp"

namespace hsap {

/// On how many equal ranks, under which caps.
struct BoundOptions {
  int ranks = 1;
  int ranks_per_node = 8;
  /// Tokens of a rank are at most token_cap times the mean (infinite = no cap). A plan that rounds its cap up to whole tokens
  /// is bounded by the rounded cap.
  double token_cap = 1.25;
  /// Cost of a rank is at most (1 + this) times the mean. What a plan saves in volume by more imbalance it loses in work.
  double cost_slack = 0.01;
  MessageCosts messages = {};
};

/// Keys, or their worth in bytes of a token's keys and values, that any plan under the caps receives. Causal masks only.
struct VolumeBounds {
  double row_atomic = 0;          ///< all that ranks receive, plans of whole rows (V_A)
  double coupled = 0;             ///< the same with both caps over all documents, >= row_atomic (V_A2)
  double into_nodes = 0;          ///< all that enters nodes, plans of whole rows (V_node)
  double most_into_one_rank = 0;  ///< plans of whole rows
  double any_plan = 0;            ///< all that ranks receive, queries, outputs and heads moved freely (V_B)
};

/// What the time of a layer cannot get below.
enum class Binding {
  compute,
  links_into_ranks,
  links_into_nodes,
  longest_document_into_rank,
  longest_document_into_node,
  latency
};
/// For people: "compute", "links into ranks", "links into nodes", "the longest document into one rank", ...
std::string to_string(Binding binding);

struct LayerBound {
  double compute_seconds = 0;
  LinkBounds links;                     ///< all 0 for masks that are not causal
  LatencyBound latency;                 ///< the same
  std::optional<VolumeBounds> volumes;  ///< nullopt for masks that are not causal: no bound is known here

  /// Plans of whole rows, whose communication hides behind attention only, under the caps.
  double seconds = 0;
  Binding binding = Binding::compute;
  /// Any plan whatever, communication hidden behind everything; the volume still under the token cap and the cost cap.
  double any_plan_seconds = 0;
  Binding any_plan_binding = Binding::compute;
};

/// Causal documents. Milliseconds at 512 ranks and millions of tokens. Throws InvalidInput for options that make no sense.
LayerBound layer_bound(const std::vector<Token>& lengths, const LayerCosts& layer, const BoundOptions& options);

/// The same for a mask. The bounds on volume rest on a row needing all keys before it; under rules that hide some (windows,
/// blocks) or show later ones only the compute bound is given.
LayerBound layer_bound(const DocumentMask& mask, const LayerCosts& layer, const BoundOptions& options);

}  // namespace hsap
