#include "planner/search/screening.hpp"

#include <algorithm>
#include <tuple>

#include "planner/ir/errors.hpp"
#include "planner/ir/memory.hpp"

namespace hsap {

namespace {

/// Option sets whose refinements are tried too.
constexpr std::size_t kRefined = 3;

bool faster(const ScreenedOptions& a, const ScreenedOptions& b) {
  return std::tie(a.seconds, a.buffer_bytes, a.memory_bytes) < std::tie(b.seconds, b.buffer_bytes, b.memory_bytes);
}

class Screener {
 public:
  Screener(const Strategy& strategy, const Problem& problem, const Degrees& degrees, const StrategyOptions& forced,
           const MemoryLimits& limits, const LinearWork& work, const ClusterTopology& cluster, const KernelTimes& kernels)
      : strategy_(strategy),
        problem_(problem),
        degrees_(degrees),
        forced_(forced),
        limits_(limits),
        work_(work),
        cluster_(cluster),
        kernels_(kernels) {}

  Screening run() {
    for (const StrategyOptions& variant : strategy_.variants(problem_, degrees_)) screen(variant);
    std::vector<StrategyOptions> good;
    for (const ScreenedOptions& screened : result_.fastest)
      if (good.size() < kRefined) good.push_back(screened.options);
    const std::vector<const ScreenedOptions*> finalists = result_.finalists(limits_);
    if (!finalists.empty() && std::find(good.begin(), good.end(), finalists.front()->options) == good.end())
      good.push_back(finalists.front()->options);
    for (const StrategyOptions& options : good)
      for (const StrategyOptions& refined : strategy_.refinements(problem_, degrees_, options)) screen(refined);
    return std::move(result_);
  }

 private:
  /// Tries `variant` unless it has been tried.
  void screen(const StrategyOptions& variant) {
    const StrategyOptions options = overridden(variant, forced_);
    if (std::find(tried_.begin(), tried_.end(), options) != tried_.end()) return;
    tried_.push_back(options);
    try {
      const Schedule schedule = strategy_.lower(problem_, degrees_, options);
      const LayerTimeline timeline = estimate_layer(schedule, work_, cluster_, kernels_);
      insert(
          {options,
           layer_seconds(schedule, timeline, Phase::forward, work_) + layer_seconds(schedule, timeline, Phase::backward, work_),
           communication_buffer_bytes(schedule)});
    } catch (const InvalidInput& error) {
      result_.refusal = error.what();
    }
  }

  void insert(ScreenedOptions screened) {
    const auto place = std::lower_bound(result_.fastest.begin(), result_.fastest.end(), screened, faster);
    if (place == result_.fastest.end() || faster(screened, *place)) result_.fastest.insert(place, std::move(screened));
  }

  const Strategy& strategy_;
  const Problem& problem_;
  const Degrees& degrees_;
  const StrategyOptions& forced_;
  const MemoryLimits& limits_;
  const LinearWork& work_;
  const ClusterTopology& cluster_;
  const KernelTimes& kernels_;
  std::vector<StrategyOptions> tried_;
  Screening result_;
};

}  // namespace

std::vector<const ScreenedOptions*> Screening::finalists(const MemoryLimits& limits) const {
  const auto excess = [&](const ScreenedOptions& screened) {  // over either limit, relative to it
    const auto over = [](double bytes, double limit) { return bytes <= limit ? 0 : bytes / limit; };
    return std::max(over(screened.buffer_bytes, limits.buffer_bytes), over(screened.memory_bytes, limits.memory_bytes));
  };
  std::vector<const ScreenedOptions*> result;
  for (const ScreenedOptions& screened : fastest)
    if (excess(screened) == 0) result.push_back(&screened);
  if (!result.empty() || fastest.empty()) return result;
  return {&*std::min_element(fastest.begin(), fastest.end(),
                             [&](const ScreenedOptions& a, const ScreenedOptions& b) { return excess(a) < excess(b); })};
}

double Screening::seconds_for_buffer(const MemoryLimits& limits) const {
  if (fastest.empty()) return 0;
  return finalists(limits).front()->seconds - finalists({.memory_bytes = limits.memory_bytes}).front()->seconds;
}

Screening screen_options(const Strategy& strategy, const Problem& problem, const Degrees& degrees,
                         const StrategyOptions& forced, const MemoryLimits& limits, const LinearWork& work,
                         const ClusterTopology& cluster, const KernelTimes& kernels) {
  return Screener(strategy, problem, degrees, forced, limits, work, cluster, kernels).run();
}

}  // namespace hsap
