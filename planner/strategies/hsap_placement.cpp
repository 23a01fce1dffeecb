#include "planner/strategies/hsap_placement.hpp"

#include <algorithm>

#include "planner/ir/errors.hpp"
#include "planner/placement/bounds/memory.hpp"
#include "planner/strategies/document_degrees.hpp"

namespace hsap {

namespace {

/// What a row costs beside its pairs, in pairs: moving its q, k, v, o (about 380 for 32 query and 8 kv heads of 128 on an
/// H100), starting its block and padding its last key tile (about 130), by the fitted constants of
/// planner/cost/kernel_speed.cpp.
constexpr double kPairsPerToken = 512;

/// The groups that documents are put on.
struct Groups {
  int count = 0;
  std::vector<int> of_node;    ///< groups of each node; empty when a group spans nodes
  std::vector<int> of_pod;     ///< groups of each pod; empty when a group spans pods, or there are none
  std::vector<double> speeds;  ///< empty: all equal
};

/// How many groups of `size` consecutive ranks lie in each part, which is numbered for each rank; empty when one spans parts.
std::vector<int> groups_of_parts(const std::vector<int>& part_of_rank, std::size_t size) {
  std::vector<int> groups;
  for (std::size_t first = 0; first < part_of_rank.size(); first += size) {
    const int part = part_of_rank[first];
    if (part != part_of_rank[first + size - 1]) return {};
    if (first == 0 || part != part_of_rank[first - 1]) groups.push_back(0);
    ++groups.back();
  }
  return groups;
}

Groups groups_of(const Problem& problem, const Degrees& degrees) {
  const auto size = static_cast<std::size_t>(degrees.intra);
  Groups groups{degrees.inter, groups_of_parts(problem.node_of_rank, size), groups_of_parts(problem.pod_of_rank, size), {}};
  for (auto first = problem.speed_of_rank.begin(); first != problem.speed_of_rank.end(); first += degrees.intra)
    groups.speeds.push_back(*std::min_element(first, first + degrees.intra));  // as fast as its slowest member
  return groups;
}

Placement blocks(const Problem& problem, const Groups& groups) {
  BlockOptions options{.block = chunk_for(problem.mask, groups.count, 512)};
  const std::vector<int>& sizes = groups.of_node;
  const bool uniform = std::all_of(sizes.begin(), sizes.end(), [&](int size) { return size == sizes.front(); });
  options.groups_per_node = sizes.empty() || !uniform ? groups.count : sizes.front();
  return place_blocks(problem.mask, groups.count, options);
}

/// As many groups for a document as its length asks for, a power of two: what does not straddle many groups needs few messages.
Placement by_degree(const Problem& problem, const Groups& groups) {
  const Token share = (problem.mask.tokens() + groups.count - 1) / groups.count;
  return placement_of(groups_by_degree(problem.mask, groups.count, share), groups.count);
}

/// All groups, those of a node, or one for a document, as its length asks for.
Placement by_class(const Problem& problem, const Groups& groups) {
  std::vector<int> node_of_group;
  for (std::size_t node = 0; node < groups.of_node.size(); ++node)
    node_of_group.insert(node_of_group.end(), static_cast<std::size_t>(groups.of_node[node]), static_cast<int>(node));
  if (node_of_group.empty()) node_of_group.assign(static_cast<std::size_t>(groups.count), 0);
  return placement_of(groups_by_class(problem.mask, node_of_group), groups.count);
}

struct PlacementLaw {
  const char* name;
  bool searched;  ///< tried where no placement is asked for
  Placement (*place)(const Problem& problem, const Groups& groups);
};

/// Few tokens cannot be spread as evenly as a law wants; then as evenly as they can.
double cap_of(const Problem& problem, const Groups& groups, double wanted) {
  return std::max(wanted, smallest_token_cap(problem.mask.tokens(), groups.count));
}

/// Balances pairs alone, and keeps tokens even: for a barrier between attention and linear work. The search tries it without
/// one, too.
Placement even_cost_cut(const Problem& problem, const Groups& groups) {
  return place_cost_cut(problem.mask, groups.count,
                        {.token_cap = cap_of(problem, groups, 1.02),
                         .groups_of_node = groups.of_node,
                         .groups_of_pod = groups.of_pod,
                         .speeds = groups.speeds});
}

/// Balances pairs, the copies of rows and, where it counts, the linear work of tokens.
Placement cost_cut(const Problem& problem, const Groups& groups, double token_cap,
                   double tolerance = CostCutOptions{}.tolerance) {
  if (problem.barrier) return even_cost_cut(problem, groups);
  return place_cost_cut(problem.mask, groups.count,
                        {.token_cap = cap_of(problem, groups, token_cap),
                         .tolerance = tolerance,
                         .pairs_per_token = kPairsPerToken + problem.pairs_per_token,
                         .pairs_per_entering_key = problem.pairs_per_token > 0 ? problem.pairs_per_entering_key : 0,
                         .groups_of_node = groups.of_node,
                         .groups_of_pod = groups.of_pod,
                         .speeds = groups.speeds});
}

/// The first one is the default.
constexpr PlacementLaw kLaws[] = {
    {"cost-cut", true, [](const Problem& p, const Groups& groups) { return cost_cut(p, groups, 1.25); }},
    {"cost-cut-tight", true, [](const Problem& p, const Groups& groups) { return cost_cut(p, groups, 1.05); }},
    {"cost-cut-even", true, even_cost_cut},
    {"cost-cut-coarse", true, [](const Problem& p, const Groups& groups) { return cost_cut(p, groups, 1.25, 0.1); }},
    {"cost-cut-uncapped", false, [](const Problem& p, const Groups& groups) { return cost_cut(p, groups, groups.count); }},
    {"zigzag", true, [](const Problem& p, const Groups& groups) { return place_zigzag(p.mask, groups.count); }},
    {"chunks", true,
     [](const Problem& p, const Groups& groups) {
       return place_chunks_by_pairs(p.mask, groups.count, chunk_for(p.mask, groups.count));
     }},
    {"blocks", true, blocks},
    {"by-degree", true, by_degree},
    {"by-class", true, by_class},
    {"contiguous", true, [](const Problem& p, const Groups& groups) { return place_contiguous(p.mask, groups.count); }},
};

const PlacementLaw& find_law(const std::string& name) {
  std::string names;
  for (const PlacementLaw& law : kLaws) {
    if (name.empty() || name == law.name) return law;
    names += (names.empty() ? "" : ", ") + std::string(law.name);
  }
  throw InvalidInput("hsap: placement \"" + name + "\" is not known; expected one of " + names);
}

}  // namespace

std::vector<std::string> hsap_placements() {
  std::vector<std::string> names;
  for (const PlacementLaw& law : kLaws)
    if (law.searched) names.push_back(law.name);
  return names;
}

Placement place_hsap(const Problem& problem, const Degrees& degrees, const std::string& law) {
  return find_law(law).place(problem, groups_of(problem, degrees));
}

}  // namespace hsap
