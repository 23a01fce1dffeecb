// hsap: IntraSP U (head-parallel all-to-all inside a fast domain) x InterSP S (sequence-aware, only what documents need,
// between groups). Documents are placed on the S groups by cost; each group's tokens are shared out over its U ranks; after the
// all-to-all, member m of a group exchanges keys and values, or queries where asked, with member m of other groups only, so
// inter-node traffic stays on its own rail. Our own design: the paper (arXiv 2606.30460) gives the idea, not the algorithm.
// Linear attention: contiguous groups, state hops only where a document straddles.
#include <algorithm>

#include "planner/ir/errors.hpp"
#include "planner/placement/bounds/memory.hpp"
#include "planner/placement/placement.hpp"
#include "planner/strategies/degree_checks.hpp"
#include "planner/strategies/head_exchange.hpp"
#include "planner/strategies/needed_exchange.hpp"
#include "planner/strategies/relayed_exchange.hpp"
#include "planner/strategies/state_chain.hpp"

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
  std::vector<double> speeds;  ///< empty: all equal
};

Groups groups_of(const Problem& problem, const Degrees& degrees) {
  Groups groups{degrees.inter, {}, {}};
  const auto size = static_cast<std::size_t>(degrees.intra);
  bool inside_nodes = true;
  for (std::size_t first = 0; first < problem.node_of_rank.size(); first += size) {
    const int node = problem.node_of_rank[first];
    inside_nodes = inside_nodes && node == problem.node_of_rank[first + size - 1];
    if (first == 0 || node != problem.node_of_rank[first - 1]) groups.of_node.push_back(0);
    ++groups.of_node.back();
    if (!problem.speed_of_rank.empty())  // a group is as fast as its slowest member
      groups.speeds.push_back(*std::min_element(problem.speed_of_rank.begin() + static_cast<std::ptrdiff_t>(first),
                                                problem.speed_of_rank.begin() + static_cast<std::ptrdiff_t>(first + size)));
  }
  if (!inside_nodes) groups.of_node.clear();
  return groups;
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

/// Balances pairs alone, and keeps tokens even: for a barrier between attention and linear work, and for ranks that wait for
/// each other's gradients.
Placement even_cost_cut(const Problem& problem, const Groups& groups) {
  return place_cost_cut(
      problem.mask, groups.count,
      {.token_cap = cap_of(problem, groups, 1.02), .groups_of_node = groups.of_node, .speeds = groups.speeds});
}

/// Balances pairs, the copies of rows and, where it counts, the linear work of tokens.
Placement cost_cut(const Problem& problem, const Groups& groups, double token_cap) {
  if (problem.barrier) return even_cost_cut(problem, groups);
  return place_cost_cut(problem.mask, groups.count,
                        {.token_cap = cap_of(problem, groups, token_cap),
                         .pairs_per_token = kPairsPerToken + problem.pairs_per_token,
                         .pairs_per_entering_key = problem.pairs_per_token > 0 ? problem.pairs_per_entering_key : 0,
                         .groups_of_node = groups.of_node,
                         .speeds = groups.speeds});
}

/// The first one is the default.
constexpr PlacementLaw kLaws[] = {
    {"cost-cut", true, [](const Problem& p, const Groups& groups) { return cost_cut(p, groups, 1.25); }},
    {"cost-cut-tight", true, [](const Problem& p, const Groups& groups) { return cost_cut(p, groups, 1.05); }},
    {"cost-cut-even", true, even_cost_cut},
    {"cost-cut-uncapped", false, [](const Problem& p, const Groups& groups) { return cost_cut(p, groups, groups.count); }},
    {"zigzag", true, [](const Problem& p, const Groups& groups) { return place_zigzag(p.mask, groups.count); }},
    {"contiguous", true, [](const Problem& p, const Groups& groups) { return place_contiguous(p.mask, groups.count); }},
};
constexpr int kDefaultStages = 1;  // more are tried by the search, and cost planning time

const PlacementLaw& find_law(const std::string& name) {
  std::string names;
  for (const PlacementLaw& law : kLaws) {
    if (name.empty() || name == law.name) return law;
    names += (names.empty() ? "" : ", ") + std::string(law.name);
  }
  throw InvalidInput("hsap: placement \"" + name + "\" is not known; expected one of " + names);
}

class Hsap : public Strategy {
 public:
  std::string name() const override { return "hsap"; }
  std::string summary() const override { return "head-parallel inside, sequence-aware needed-only exchange between groups"; }
  bool serves(AttentionKind) const override { return true; }
  std::vector<Degrees> degrees(const Problem& problem) const override { return head_parallel_degrees_of(problem); }
  std::vector<std::string> options() const override { return {"placement", "stages", "moving", "exchange", "kv", "dkv-dtype"}; }

  std::vector<StrategyOptions> variants(const Problem& problem, const Degrees& degrees) const override {
    if (degrees.inter == 1) return {StrategyOptions{}};
    if (problem.shape.kind == AttentionKind::linear) return {{.placement = "contiguous", .stages = 0}};
    std::vector<StrategyOptions> result;
    for (const PlacementLaw& law : kLaws)
      for (const int stages : {1, 2, 4})
        if (law.searched) result.push_back({law.name, stages});
    result.push_back({.placement = kLaws[0].name, .stages = kDefaultStages, .kv = KvForBackward::again});
    result.push_back({.placement = kLaws[0].name, .stages = kDefaultStages, .exchange = KvRoute::direct});
    StrategyOptions cheaper{.placement = kLaws[0].name, .stages = kDefaultStages, .moving = Moving::cheaper};
    if (moves_queries(problem, degrees, cheaper)) result.push_back(cheaper);
    return result;
  }

  std::optional<StrategyOptions> without_token_cap(const Problem& problem, const StrategyOptions& options) const override {
    const bool capped = options.placement.empty() || options.placement.starts_with("cost-cut");
    if (!capped || problem.shape.kind == AttentionKind::linear) return std::nullopt;
    StrategyOptions uncapped = options;
    uncapped.placement = "cost-cut-uncapped";
    return uncapped;
  }

 private:
  Schedule compile(const Problem& problem, const Degrees& degrees, const StrategyOptions& options) const override {
    const bool linear = problem.shape.kind == AttentionKind::linear;
    if (linear) require_linear_options(options);
    std::vector<TokenSet> owned;
    for (const TokenSet& group : place(problem, degrees, linear ? "contiguous" : options.placement))
      for (TokenSet& tokens : split_rows(group, degrees.intra)) owned.push_back(std::move(tokens));
    ProgramBuilder builder(name(), degrees, problem, owned);
    with_head_exchange(builder, consecutive_groups(degrees),
                       [&](ProgramBuilder& b, const std::vector<std::vector<View>>& views) {
                         if (!linear) return exchange(b, views, problem, options);
                         for (std::size_t member = 0; member < views.front().size(); ++member) {
                           std::vector<View> chain;
                           for (const std::vector<View>& group : views) chain.push_back(group[member]);
                           state_chain(b, chain);
                         }
                       });
    return builder.take();
  }

  static void require_linear_options(const StrategyOptions& options) {
    const bool contiguous = options.placement.empty() || options.placement == "contiguous";
    if (contiguous && options == StrategyOptions{.placement = options.placement}) return;
    throw InvalidInput("hsap: found options \"" + to_string(options) +
                       "\" for linear attention, which passes states between contiguous groups; leave them out");
  }

  static Placement place(const Problem& problem, const Degrees& degrees, const std::string& law) {
    return find_law(law).place(problem, groups_of(problem, degrees));
  }

  static void exchange(ProgramBuilder& builder, const std::vector<std::vector<View>>& views, const Problem& problem,
                       const StrategyOptions& options) {
    const bool queries_may_move = options.moving && *options.moving != Moving::kv;
    if (queries_may_move && options.exchange == KvRoute::hierarchical)
      throw InvalidInput("hsap: found exchange \"hierarchical\" with moving \"" + to_string(*options.moving) +
                         "\"; only keys and values take it: expected moving kv, or exchange direct");
    const ExchangeRules rules = rules_of(options);
    if (queries_may_move || options.exchange == KvRoute::direct)
      needed_exchange(builder, views, problem.node_of_rank, rules);
    else
      relayed_exchange(
          builder, views, problem.node_of_rank,
          {.stages = rules.stages, .kv = rules.kv, .d_kv = rules.d_kv, .ends_programs = views.front().size() == 1});
  }

  static ExchangeRules rules_of(const StrategyOptions& options) {
    const Moving moving = options.moving.value_or(Moving::kv);
    ExchangeRules rules;
    rules.moving = [moving](int, int) { return moving; };
    rules.stages = options.stages > 0 ? options.stages : kDefaultStages;
    rules.kv = options.kv.value_or(KvForBackward::kept);
    rules.d_kv = options.d_kv;
    return rules;
  }

  /// Whether somewhere queries are cheaper to move.
  static bool moves_queries(const Problem& problem, const Degrees& degrees, const StrategyOptions& options) {
    const Placement groups = place(problem, degrees, options.placement);
    const int kv_copies = std::max(1, degrees.intra / problem.shape.kv_heads);
    const GroupHeads heads{problem.shape.query_heads, problem.shape.kv_heads * kv_copies};
    const ExchangeRules rules = rules_of(options);
    bool found = false;
    for_each_need(problem.mask, groups, [&](const Need& need) {
      found = found || decide(need, problem.mask, groups, problem.shape, heads, rules) == Moving::q;
    });
    return found;
  }
};

}  // namespace

const Strategy& hsap_strategy() {
  static const Hsap strategy;
  return strategy;
}

}  // namespace hsap
