#include "planner/placement/bounds/layer_bound.hpp"

#include <algorithm>
#include <initializer_list>

#include "planner/ir/errors.hpp"
#include "planner/placement/bounds/any_plan_volume.hpp"
#include "planner/placement/bounds/compute_bound.hpp"
#include "planner/placement/bounds/coupled_volume.hpp"
#include "planner/placement/bounds/row_atomic_volume.hpp"

namespace hsap {

namespace {

struct Term {
  Binding binding;
  double seconds;
};

/// The first of the largest.
Term largest(std::initializer_list<Term> terms) {
  return *std::max_element(terms.begin(), terms.end(), [](const Term& a, const Term& b) { return a.seconds < b.seconds; });
}

VolumeBounds volume_bounds(const std::vector<Token>& lengths, const RankCaps& caps, const LayerCosts& layer,
                           const BoundOptions& options) {
  return {
      .row_atomic = row_atomic_volume(lengths, caps),
      .coupled = coupled_volume(lengths, options.ranks, caps),
      .into_nodes = volume_into_groups(lengths, options.ranks, options.ranks_per_node, caps),
      .most_into_one_rank = most_received_by_a_rank(lengths, caps),
      .any_plan = any_plan_volume(lengths, caps, {layer.queries_per_kv_head, layer.kv_heads}),
  };
}

LayerBound compute_only(double pairs, double tokens, const LayerCosts& layer, int ranks) {
  LayerBound bound;
  bound.compute_seconds = compute_bound_seconds(pairs, tokens, {layer.seconds_per_pair, layer.seconds_per_token}, ranks);
  bound.seconds = bound.any_plan_seconds = bound.compute_seconds;
  return bound;
}

RankCaps caps_of(const std::vector<Token>& lengths, const LayerCosts& layer, const BoundOptions& options) {
  if (options.ranks_per_node < 1)
    throw InvalidInput("lower bounds: ranks_per_node is " + std::to_string(options.ranks_per_node) + ", expected at least 1");
  return rank_caps(lengths, options.ranks, options.token_cap, options.cost_slack, layer.pairs_per_token());
}

bool sees_all_before(const MaskRule& rule) { return rule.is_causal() && !rule.left && !rule.chunk; }

}  // namespace

std::string to_string(Binding binding) {
  switch (binding) {
    case Binding::compute:
      return "compute";
    case Binding::links_into_ranks:
      return "links into ranks";
    case Binding::links_into_nodes:
      return "links into nodes";
    case Binding::longest_document_into_rank:
      return "the longest document into one rank";
    case Binding::longest_document_into_node:
      return "the longest document into one node";
    case Binding::latency:
      return "latency";
  }
  return "";
}

LayerBound layer_bound(const std::vector<Token>& lengths, const LayerCosts& layer, const BoundOptions& options) {
  const RankCaps caps = caps_of(lengths, layer, options);
  LayerBound bound = compute_only(causal_pairs(lengths), total_tokens(lengths), layer, options.ranks);
  bound.volumes = volume_bounds(lengths, caps, layer, options);
  bound.links = link_bounds(lengths, options.ranks, options.ranks_per_node, caps, layer);
  bound.latency = latency_bound(lengths, caps, options.messages);

  const Term rows = largest({
      {Binding::compute, bound.compute_seconds},
      {Binding::links_into_nodes, bound.links.into_nodes},
      {Binding::links_into_ranks, bound.links.into_ranks},
      {Binding::longest_document_into_rank, bound.links.longest_document_into_rank},
      {Binding::longest_document_into_node, bound.links.longest_document_into_node},
      {Binding::latency, bound.latency.any_seconds},
  });
  bound.seconds = rows.seconds;
  bound.binding = rows.binding;

  // All links of all ranks together carry what any plan moves.
  const double links = options.ranks * (layer.island_bytes_per_second + layer.nic_bytes_per_second);
  const Term any = largest({{Binding::compute, bound.compute_seconds},
                            {Binding::links_into_ranks, bound.volumes->any_plan * layer.bytes_per_kv_token / links}});
  bound.any_plan_seconds = any.seconds;
  bound.any_plan_binding = any.binding;
  return bound;
}

LayerBound layer_bound(const DocumentMask& mask, const LayerCosts& layer, const BoundOptions& options) {
  const std::vector<Token> lengths = lengths_of(mask);
  if (sees_all_before(mask.rule())) return layer_bound(lengths, layer, options);
  caps_of(lengths, layer, options);  // refuses what makes no sense
  return compute_only(static_cast<double>(mask.pairs()), static_cast<double>(mask.tokens()), layer, options.ranks);
}

}  // namespace hsap
