#include "planner/search/compare.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

#include "planner/inputs/model_shape.hpp"
#include "planner/ir/errors.hpp"
#include "planner/ir/memory.hpp"
#include "planner/ir/units.hpp"
#include "planner/ir/verify.hpp"
#include "planner/ir/work.hpp"
#include "planner/search/screening.hpp"

namespace hsap {

namespace {

/// Most option sets per degrees that go from the screening to the evaluator. estimate() ignores contention, so the first may
/// not win; but contention only adds time, so those that estimate() holds for slower than the best one evaluated cannot.
constexpr std::size_t kFinalists = 6;
/// By how much estimate() may come out above simulate() all the same: that both agree to 1 % without contention is tested.
constexpr double kEstimateSlack = 0.01;

/// The problem as the strategy can serve it: its own, or the linear counterpart of a softmax layer, which is causal.
Problem problem_for(const Strategy& strategy, const Problem& problem) {
  Problem served = problem;
  if (!strategy.serves(problem.shape.kind)) {
    served.shape = linear_counterpart(problem.shape);
    served.mask = DocumentMask(problem.mask.offsets());
  }
  return served;
}

double bytes_between_nodes(const Schedule& schedule, const ClusterTopology& cluster) {
  double bytes = 0;
  for (RankId rank = 0; rank < schedule.ranks.size(); ++rank)
    for (const Phase phase : {Phase::forward, Phase::backward})
      for (const Op& op : ops_of(schedule.ranks[rank], phase))
        if (const auto* exchange = std::get_if<Exchange>(&op.body))
          for (const Message& message : exchange->sends)
            if (cluster.node_of(rank) != cluster.node_of(message.peer)) bytes += bytes_of(schedule, rank, message);
  return bytes;
}

double total_flops(const Schedule& schedule) {
  double flops = 0;
  for (RankId rank = 0; rank < schedule.ranks.size(); ++rank)
    for (const Phase phase : {Phase::forward, Phase::backward})
      for (const Op& op : ops_of(schedule.ranks[rank], phase)) flops += flops_of(schedule, rank, op.body);
  return flops;
}

/// The options that the strategy has.
StrategyOptions known_part(const Strategy& strategy, const StrategyOptions& options) {
  const std::vector<std::string> known = strategy.options();
  StrategyOptions part;
  for (const OptionField& field : option_fields())
    if (const std::string value = field.value(options);
        !value.empty() && std::find(known.begin(), known.end(), field.name) != known.end())
      field.set(part, value);
  return part;
}

/// Throws InvalidInput when an option is set that none of the strategies has.
void check_options_known(const std::vector<const Strategy*>& strategies, const StrategyOptions& options) {
  for (const OptionField& field : option_fields()) {
    if (field.value(options).empty()) continue;
    std::string having;
    bool known = false;
    for (const Strategy* strategy : all_strategies()) {
      const std::vector<std::string> names = strategy->options();
      if (std::find(names.begin(), names.end(), field.name) == names.end()) continue;
      having += (having.empty() ? "" : ", ") + strategy->name();
      known = known || std::find(strategies.begin(), strategies.end(), strategy) != strategies.end();
    }
    if (!known) throw InvalidInput("--" + field.name + ": no strategy compared has this option; " + having + " have it");
  }
}

class Comparer {
 public:
  Comparer(const CompareRequest& request, const ClusterTopology& cluster, const KernelTimes& kernels,
           const Evaluator& evaluator, const Progress& progress)
      : request_(request), cluster_(cluster), kernels_(kernels), evaluator_(evaluator), progress_(progress) {
    limits_.buffer_bytes = request.problem.buffer_bytes;
    for (GpuId gpu = 0; gpu < cluster.gpus(); ++gpu)
      limits_.memory_bytes = std::min(limits_.memory_bytes, cluster.device(gpu).memory_bytes);
  }

  Comparison run() {
    std::vector<const Strategy*> strategies;
    if (request_.strategies.empty()) strategies = all_strategies();
    for (const std::string& name : request_.strategies) strategies.push_back(&find_strategy(name));

    check_options_known(strategies, request_.options);
    Comparison comparison;
    comparison.objective = request_.objective;
    comparison.bounds = lower_bounds(request_.problem, ranked_work(), kernels_);
    std::vector<std::pair<const Strategy*, Degrees>> rows;
    for (const Strategy* strategy : strategies) collect(*strategy, rows, comparison.outcomes);
    std::size_t done = 0;
    for (const auto& [strategy, degrees] : rows) {
      if (progress_) progress_(done++, rows.size(), strategy->name() + " " + to_string(degrees));
      Measured measured = evaluate(*strategy, degrees);
      if (may_be_best(measured.outcome) && (!best_timeline_ || seconds_of(measured.outcome) < best_seconds_)) {
        best_seconds_ = seconds_of(measured.outcome);
        best_timeline_ = std::move(measured.timeline);
      }
      comparison.outcomes.push_back(std::move(measured.outcome));
    }
    rank(comparison);
    if (comparison.best) comparison.best_causes = causes_of(comparison.outcomes[*comparison.best]);
    return comparison;
  }

 private:
  /// Linear work as far as the objective counts it.
  LinearWork ranked_work() const { return request_.objective == Objective::layer ? request_.linear_work : LinearWork{}; }

  /// Adds the degrees to evaluate, or one invalid outcome with the reason.
  void collect(const Strategy& strategy, std::vector<std::pair<const Strategy*, Degrees>>& rows,
               std::vector<Outcome>& outcomes) const {
    const Problem problem = problem_for(strategy, request_.problem);
    std::vector<Degrees> wanted = strategy.degrees(problem);
    const bool possible = strategy.serves(problem.shape.kind) && !wanted.empty() &&
                          (!request_.degrees || std::find(wanted.begin(), wanted.end(), *request_.degrees) != wanted.end());
    if (possible) {
      if (request_.degrees) wanted = {*request_.degrees};
      for (const Degrees& degrees : wanted) rows.emplace_back(&strategy, degrees);
      return;
    }
    const Degrees asked = request_.degrees.value_or(Degrees{problem.ranks, 1});
    try {
      strategy.lower(problem, asked);
    } catch (const InvalidInput& error) {
      outcomes.push_back(refused(strategy, problem, asked, error.what()));
    }
  }

  static Outcome refused(const Strategy& strategy, const Problem& problem, const Degrees& degrees, std::string reason) {
    Outcome outcome;
    outcome.strategy = strategy.name();
    outcome.attention = problem.shape.kind;
    outcome.degrees = degrees;
    outcome.reason = std::move(reason);
    return outcome;
  }

  struct Measured {
    Outcome outcome;
    LayerTimeline timeline;
  };

  double seconds_of(const Outcome& outcome) const { return outcome.seconds(request_.objective); }
  bool may_be_best(const Outcome& outcome) const {
    return outcome.valid && outcome.fits && !outcome.contamination && outcome.attention == request_.problem.shape.kind;
  }

  /// The strategy at these degrees with its best options.
  Measured evaluate(const Strategy& strategy, const Degrees& degrees) const {
    Problem problem = problem_for(strategy, request_.problem);
    const bool contaminates = request_.as_published && strategy.published_ignores_documents() && problem.mask.documents() > 1;
    if (contaminates) problem = without_documents(std::move(problem));
    const Screening screening = screen_options(strategy, problem, degrees, known_part(strategy, request_.options), limits_,
                                               ranked_work(), cluster_, kernels_);
    if (screening.fastest.empty()) return {refused(strategy, problem, degrees, screening.refusal), {}};
    std::optional<Measured> best;
    const auto order = [&](const Measured& measured) {
      return std::pair(!measured.outcome.fits, seconds_of(measured.outcome));
    };
    std::size_t evaluated = 0;
    for (const ScreenedOptions* finalist : screening.finalists(limits_)) {
      if (evaluated++ == kFinalists) break;
      if (best && best->outcome.fits && finalist->seconds >= (1 + kEstimateSlack) * seconds_of(best->outcome)) break;
      Measured measured = measure(strategy, problem, degrees, finalist->options);
      if (!best || order(measured) < order(*best)) best = std::move(measured);
    }
    best->outcome.seconds_for_buffer = screening.seconds_for_buffer(limits_);
    if (contaminates) best->outcome.contamination = contamination(strategy, best->outcome);
    return *std::move(best);
  }

  Contamination contamination(const Strategy& strategy, const Outcome& outcome) const {
    const Problem right = problem_for(strategy, request_.problem);
    const Problem wrong = without_documents(right);
    return {wrong.mask.pairs() - right.mask.pairs(), total_flops(strategy.lower(wrong, outcome.degrees, outcome.options)) -
                                                         total_flops(strategy.lower(right, outcome.degrees, outcome.options))};
  }

  Measured measure(const Strategy& strategy, const Problem& problem, const Degrees& degrees,
                   const StrategyOptions& options) const {
    const Schedule schedule = strategy.lower(problem, degrees, options);
    verify(schedule, problem.mask);
    Measured measured{{}, evaluator_(schedule, request_.linear_work)};
    const Timeline& attention = measured.timeline.attention;
    Outcome& outcome = measured.outcome;
    outcome.strategy = strategy.name();
    outcome.attention = problem.shape.kind;
    outcome.degrees = degrees;
    outcome.options = options;
    outcome.valid = true;
    outcome.forward_seconds = attention.forward.seconds();
    outcome.backward_seconds = attention.backward.seconds();
    outcome.layer_forward_seconds = layer_seconds(schedule, measured.timeline, Phase::forward, request_.linear_work);
    outcome.layer_backward_seconds = layer_seconds(schedule, measured.timeline, Phase::backward, request_.linear_work);
    std::vector<double> sent(schedule.ranks.size(), 0);
    for (const Phase phase : {Phase::forward, Phase::backward}) {
      outcome.exposed_communication_seconds += exposed_communication_seconds(schedule, attention, phase);
      const std::vector<double> of_phase = bytes_sent_by_rank(schedule, phase);
      for (std::size_t r = 0; r < sent.size(); ++r) sent[r] += of_phase[r];
    }
    outcome.bytes_sent_busiest_rank = *std::max_element(sent.begin(), sent.end());
    outcome.bytes_between_nodes = bytes_between_nodes(schedule, cluster_);
    outcome.over_bound =
        seconds_of(outcome) / lower_bounds(problem_for(strategy, request_.problem), ranked_work(), kernels_).front().seconds;
    check_memory(schedule, outcome);
    return measured;
  }

  PhaseCauses causes_of(const Outcome& outcome) const {
    const Schedule schedule = lower(outcome, request_.problem);
    const std::optional<Schedule> uncapped = without_token_cap(schedule, outcome.options, request_.problem);
    return phase_causes(schedule, request_.problem.mask, *best_timeline_, cluster_, kernels_, ranked_work(),
                        uncapped ? &*uncapped : nullptr);
  }

  void check_memory(const Schedule& schedule, Outcome& outcome) const {
    const MemoryUse use = peak_memory(schedule);
    outcome.peak_memory_bytes = use.peak_bytes;
    outcome.communication_buffer_bytes = communication_buffer_bytes(schedule);
    outcome.fits = use.peak_bytes <= limits_.memory_bytes && outcome.communication_buffer_bytes <= limits_.buffer_bytes;
    if (outcome.communication_buffer_bytes > limits_.buffer_bytes)
      outcome.reason = "needs " + format_bytes(outcome.communication_buffer_bytes) +
                       " of communication buffers, the limit is " + format_bytes(limits_.buffer_bytes) +
                       ", and no option set tried needs less";
    if (use.peak_bytes > limits_.memory_bytes)
      outcome.reason = "needs " + format_bytes(use.peak_bytes) + " of " + format_bytes(limits_.memory_bytes) + " in " +
                       to_string(use.peak_phase) + "; largest: " + use.largest_term + " " +
                       format_bytes(use.largest_term_bytes);
  }

  void rank(Comparison& comparison) const {
    std::vector<Outcome>& outcomes = comparison.outcomes;
    const auto order = [&](const Outcome& outcome) {
      const double too_large =
          outcome.communication_buffer_bytes > limits_.buffer_bytes ? outcome.communication_buffer_bytes : 0;
      return std::tuple(!outcome.valid, outcome.attention != request_.problem.shape.kind, outcome.contamination.has_value(),
                        !outcome.fits, too_large, seconds_of(outcome));
    };
    std::stable_sort(outcomes.begin(), outcomes.end(), [&](const Outcome& a, const Outcome& b) { return order(a) < order(b); });
    if (!request_.every_degree) {
      std::vector<Outcome> best_of_strategy;
      for (Outcome& outcome : outcomes)
        if (std::none_of(best_of_strategy.begin(), best_of_strategy.end(),
                         [&](const Outcome& o) { return o.strategy == outcome.strategy; }))
          best_of_strategy.push_back(std::move(outcome));
      outcomes = std::move(best_of_strategy);
    }
    for (std::size_t i = 0; i < outcomes.size() && !comparison.best; ++i)
      if (may_be_best(outcomes[i])) comparison.best = i;
  }

  const CompareRequest& request_;
  const ClusterTopology& cluster_;
  const KernelTimes& kernels_;
  const Evaluator& evaluator_;
  const Progress& progress_;
  MemoryLimits limits_;                         ///< of the rank that has least
  std::optional<LayerTimeline> best_timeline_;  ///< of the best outcome so far
  double best_seconds_ = 0;
};

}  // namespace

Comparison compare(const CompareRequest& request, const ClusterTopology& cluster, const KernelTimes& kernels,
                   const Evaluator& evaluator, const Progress& progress) {
  return Comparer(request, cluster, kernels, evaluator, progress).run();
}

Problem make_problem(const AttentionShape& shape, const std::vector<Token>& offsets, const ClusterTopology& cluster) {
  Problem problem;
  problem.shape = shape;
  problem.mask = DocumentMask(offsets, shape.mask);
  problem.ranks = static_cast<int>(cluster.gpus());
  for (GpuId gpu = 0; gpu < cluster.gpus(); ++gpu) {
    problem.node_of_rank.push_back(static_cast<int>(cluster.island_of(gpu)));
    problem.pod_of_rank.push_back(static_cast<int>(cluster.pod_of(gpu)));
  }
  return problem;
}

Problem make_problem(const AttentionShape& shape, const std::vector<Token>& offsets, const ClusterTopology& cluster,
                     const LinearWork& work, const KernelTimes& kernels) {
  Problem problem = make_problem(shape, offsets, cluster);
  problem.pairs_per_token = pairs_per_token(shape, work, kernels);
  if (shape.kind == AttentionKind::softmax) problem.pairs_per_entering_key = pairs_per_entering_key(shape, cluster, kernels);
  for (RankId rank = 0; rank < static_cast<RankId>(problem.ranks); ++rank)
    problem.speed_of_rank.push_back(kernels.best_attention_flops_per_second(rank, shape, Phase::forward));
  return problem;
}

Problem without_documents(Problem problem) {
  problem.mask = DocumentMask({0, problem.mask.tokens()}, problem.mask.rule());
  return problem;
}

Schedule lower(const Outcome& outcome, const Problem& problem) {
  const Strategy& strategy = find_strategy(outcome.strategy);
  Problem served = problem_for(strategy, problem);
  if (outcome.contamination) served = without_documents(std::move(served));
  return strategy.lower(served, outcome.degrees, outcome.options);
}

std::optional<Schedule> without_token_cap(const Schedule& schedule, const StrategyOptions& options, const Problem& problem) {
  const Strategy& strategy = find_strategy(schedule.strategy);
  const std::optional<StrategyOptions> uncapped = strategy.without_token_cap(problem, options);
  if (!uncapped) return std::nullopt;
  return strategy.lower(problem, schedule.degrees, *uncapped);
}

}  // namespace hsap
