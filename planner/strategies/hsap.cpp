// hsap: IntraSP U (head-parallel all-to-all inside a fast domain) x InterSP S (sequence-aware, only what documents need,
// between groups). Documents are placed on the S groups by cost; each group's tokens are shared out over its U ranks; after the
// all-to-all, member m of a group exchanges keys and values, queries, or both, with member m of other groups only, so
// inter-node traffic stays on its own rail. Our own design: the paper (arXiv 2606.30460) gives the idea, not the algorithm.
// Linear attention: contiguous groups, states travel only where a document straddles, as in lasp, lasp2 or zeco.
#include "planner/strategies/hsap.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "planner/ir/errors.hpp"
#include "planner/strategies/degree_checks.hpp"
#include "planner/strategies/head_exchange.hpp"
#include "planner/strategies/hsap_placement.hpp"
#include "planner/strategies/joined_exchange.hpp"
#include "planner/strategies/needed_exchange.hpp"
#include "planner/strategies/query_moves.hpp"
#include "planner/strategies/relay/relayed_exchange.hpp"
#include "planner/strategies/state_chain.hpp"
#include "planner/strategies/state_gather.hpp"
#include "planner/strategies/state_scan.hpp"
#include "planner/strategies/tile_exchange.hpp"

namespace hsap {

namespace {

/// By how much a group may have more pairs than the mean before queries move off it: DCP's epsilon inside a machine.
constexpr double kBalanceTolerance = 0.1;
constexpr int kDefaultStages = 1;  // more are tried by the search, and cost planning time
constexpr int kMostStages = 64;    // that are tried to make do with small buffers
constexpr int kLeastTiles = 32;    // groups that a document fills, from which tiles are tried

class Hsap : public Strategy {
 public:
  std::string name() const override { return "hsap"; }
  std::string summary() const override { return "head-parallel inside, sequence-aware needed-only exchange between groups"; }
  bool serves(AttentionKind) const override { return true; }
  std::vector<Degrees> degrees(const Problem& problem) const override { return head_parallel_degrees_of(problem); }
  std::vector<std::string> options() const override {
    return {"placement", "stages", "moving", "exchange", "kv", "dkv-dtype", "states"};
  }

  std::vector<StrategyOptions> variants(const Problem& problem, const Degrees& degrees) const override {
    if (degrees.inter == 1) return {StrategyOptions{}};
    if (problem.shape.kind == AttentionKind::linear) return linear_variants(problem, degrees);
    const bool islands = problem.node_of_rank.front() != problem.node_of_rank.back();
    std::vector<StrategyOptions> result;
    for (const std::string& law : hsap_placements()) {
      result.push_back({.placement = law, .stages = kDefaultStages});
      result.push_back({.placement = law, .exchange = KvRoute::joined});
      if (islands) result.push_back({.placement = law, .stages = kDefaultStages, .exchange = KvRoute::direct});
    }
    for (const char* unbalanced : {"contiguous", "blocks"})
      result.push_back({.placement = unbalanced, .stages = kDefaultStages, .moving = Moving::balanced});
    if (groups_of_longest(problem.mask, degrees.inter) >= kLeastTiles)
      for (const char* law : {"by-class", "by-degree", "cost-cut"})
        result.push_back({.placement = law, .stages = kDefaultStages, .moving = Moving::tiles});
    return result;
  }

  std::vector<StrategyOptions> refinements(const Problem& problem, const Degrees& degrees,
                                           const StrategyOptions& good) const override {
    if (problem.shape.kind == AttentionKind::linear || degrees.inter == 1) return {};
    std::vector<StrategyOptions> result;
    if (std::isfinite(problem.buffer_bytes))
      for (int stages = 1; stages <= kMostStages; stages *= 2)
        for (const KvRoute route : {KvRoute::direct, KvRoute::hierarchical})
          result.push_back({.placement = good.placement, .stages = stages, .kv = KvForBackward::again, .exchange = route});
    if (good.exchange == KvRoute::joined) return result;
    const auto add = [&](auto&& change) {
      result.push_back(good);
      change(result.back());
    };
    for (const int stages : {2, 4, 8}) add([&](StrategyOptions& o) { o.stages = stages; });
    add([](StrategyOptions& o) { o.kv = KvForBackward::again; });
    if (good.moving || good.exchange == KvRoute::direct) return result;
    for (const int stages : {1, 2, 4}) add([&](StrategyOptions& o) { o.stages = stages, o.exchange = KvRoute::direct; });
    if (problem.node_of_rank.front() != problem.node_of_rank.back())  // rounds keep gradients longer, so not for small buffers
      for (const int stages : {4, 8, 16}) add([&](StrategyOptions& o) { o.stages = stages, o.exchange = KvRoute::rounds; });
    StrategyOptions cheaper = good;
    cheaper.moving = Moving::cheaper;
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

  /// The schedule of groups that hold these tokens; options.placement is not looked at.
  Schedule lower_groups(const Problem& problem, const Degrees& degrees, Placement groups,
                        const StrategyOptions& options) const {
    std::vector<TokenSet> owned;
    if (degrees.intra == 1)
      owned = std::move(groups);
    else
      for (const TokenSet& group : groups)
        for (TokenSet& tokens : split_rows(group, degrees.intra)) owned.push_back(std::move(tokens));
    ProgramBuilder builder(name(), degrees, problem, std::move(owned));
    with_head_exchange(builder, degrees, [&](ProgramBuilder& b, const std::vector<std::vector<View>>& views) {
      if (problem.shape.kind == AttentionKind::softmax) return exchange(b, views, problem, options);
      for (std::size_t member = 0; member < views.front().size(); ++member) hand_states_on(b, views, member, options);
    });
    return builder.take();
  }

 private:
  /// How many groups the longest document fills.
  static Token groups_of_longest(const DocumentMask& mask, int groups) {
    Token longest = 0;
    for (std::size_t d = 0; d < mask.documents(); ++d) longest = std::max(longest, mask.document(d).size());
    return longest * groups / mask.tokens();
  }

  /// Scans in as many blocks as the kv heads of each member allow.
  static std::vector<StrategyOptions> linear_variants(const Problem& problem, const Degrees& degrees) {
    std::vector<StrategyOptions> result{{.placement = "contiguous", .states = StateRoute::chain},
                                        {.placement = "contiguous", .states = StateRoute::gather}};
    if (degrees.inter <= 2) return result;  // nothing is passed on, so nothing is pipelined
    if (problem.shape.kv_heads % degrees.intra == 0)
      for (const int stages : scan_stages(problem.shape.kv_heads / degrees.intra))
        result.push_back({.placement = "contiguous", .stages = stages, .states = StateRoute::scan});
    return result;
  }

  Schedule compile(const Problem& problem, const Degrees& degrees, const StrategyOptions& options) const override {
    const bool linear = problem.shape.kind == AttentionKind::linear;
    if (linear) require_linear_options(options);
    return lower_groups(problem, degrees, place_hsap(problem, degrees, linear ? "contiguous" : options.placement), options);
  }

  static void require_linear_options(const StrategyOptions& options) {
    const bool contiguous = options.placement.empty() || options.placement == "contiguous";
    const int stages = options.states == StateRoute::scan ? options.stages : 0;
    if (contiguous && options == StrategyOptions{.placement = options.placement, .stages = stages, .states = options.states})
      return;
    throw InvalidInput(
        "hsap: found options \"" + to_string(options) +
        "\" for linear attention, which passes states between contiguous groups: expected states, and stages with "
        "states scan only");
  }

  static void hand_states_on(ProgramBuilder& builder, const std::vector<std::vector<View>>& views, std::size_t member,
                             const StrategyOptions& options) {
    std::vector<View> chain;
    for (const std::vector<View>& group : views) chain.push_back(group[member]);
    switch (options.states.value_or(StateRoute::chain)) {
      case StateRoute::chain:
        return state_chain(builder, chain);
      case StateRoute::gather:
        return state_gather(builder, chain);
      case StateRoute::scan:
        return state_scan(builder, chain, options.stages);
    }
  }

  static void require_joined_options(const StrategyOptions& options) {
    if (options.stages > 1)
      throw InvalidInput("hsap: found " + std::to_string(options.stages) +
                         " stages with exchange \"joined\", whose attention runs once; expected 1, or another exchange");
    if (options.kv == KvForBackward::again)
      throw InvalidInput(
          "hsap: found kv \"again\" with exchange \"joined\", which keeps them; expected kept, or another exchange");
  }

  static void exchange(ProgramBuilder& builder, const std::vector<std::vector<View>>& views, const Problem& problem,
                       const StrategyOptions& options) {
    if (options.states)
      throw InvalidInput("hsap: found states \"" + to_string(*options.states) +
                         "\" for softmax attention, which has none; leave it out");
    const bool queries_may_move = options.moving && *options.moving != Moving::kv;
    if (queries_may_move && options.exchange.value_or(KvRoute::direct) != KvRoute::direct)
      throw InvalidInput("hsap: found exchange \"" + to_string(*options.exchange) + "\" with moving \"" +
                         to_string(*options.moving) +
                         "\"; only keys and values take it: expected moving kv, or exchange direct");
    if (options.exchange == KvRoute::joined) {
      require_joined_options(options);
      const DType d_kv = options.d_kv.value_or(problem.shape.dtype);
      return joined_exchange(builder, views, {.d_kv = d_kv, .sum = d_kv});
    }
    ExchangeRules rules = rules_of(options);
    if (options.moving == Moving::tiles) return tile_exchange(builder, views, problem.node_of_rank, rules);
    if (options.moving == Moving::balanced) {
      Placement groups;
      for (const std::vector<View>& group : views) groups.push_back(builder.tokens(group.front().tokens));
      rules.moving = balancing_moves(problem, groups, heads_of_group(problem, static_cast<int>(views.front().size())), rules,
                                     kBalanceTolerance);
    }
    if (queries_may_move || options.exchange == KvRoute::direct)
      needed_exchange(builder, views, problem.node_of_rank, rules);
    else
      relayed_exchange(builder, views, problem.node_of_rank,
                       {.stages = rules.stages,
                        .in_rounds = options.exchange == KvRoute::rounds,
                        .kv = rules.kv,
                        .d_kv = rules.d_kv,
                        .ends_programs = views.front().size() == 1});
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

  static GroupHeads heads_of_group(const Problem& problem, int members) {
    return {problem.shape.query_heads, problem.shape.kv_heads * std::max(1, members / problem.shape.kv_heads)};
  }

  /// Whether somewhere queries are cheaper to move.
  static bool moves_queries(const Problem& problem, const Degrees& degrees, const StrategyOptions& options) {
    const Placement groups = place_hsap(problem, degrees, options.placement);
    const GroupHeads heads = heads_of_group(problem, degrees.intra);
    const ExchangeRules rules = rules_of(options);
    bool found = false;
    for_each_need(problem.mask, groups, [&](const Need& need) {
      found = found || decide(need, problem.mask, groups, problem.shape, heads, rules) == Moving::q;
    });
    return found;
  }
};

const Hsap& the_strategy() {
  static const Hsap strategy;
  return strategy;
}

}  // namespace

const Strategy& hsap_strategy() { return the_strategy(); }

Schedule lower_hsap(const Problem& problem, const Degrees& degrees, Placement groups, const StrategyOptions& options) {
  require_degrees(the_strategy(), problem, degrees);
  require_options(the_strategy(), options);
  if (problem.shape.kind != AttentionKind::softmax)
    throw InvalidInput("hsap: found linear attention with groups that are given; expected softmax attention");
  if (!options.placement.empty())
    throw InvalidInput("hsap: found placement \"" + options.placement + "\" with groups that are given; leave it out");
  if (groups.size() != static_cast<std::size_t>(degrees.inter))
    throw InvalidInput("hsap: found the tokens of " + std::to_string(groups.size()) + " groups, expected " +
                       std::to_string(degrees.inter));
  return the_strategy().lower_groups(problem, degrees, std::move(groups), options);
}

}  // namespace hsap
