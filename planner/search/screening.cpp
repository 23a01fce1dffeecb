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
  return std::tie(a.seconds, a.buffer_bytes) < std::tie(b.seconds, b.buffer_bytes);
}

class Screener {
 public:
  Screener(const Strategy& strategy, const Problem& problem, const Degrees& degrees, const StrategyOptions& forced,
           const LinearWork& work, const ClusterTopology& cluster, const KernelTimes& kernels)
      : strategy_(strategy),
        problem_(problem),
        degrees_(degrees),
        forced_(forced),
        work_(work),
        cluster_(cluster),
        kernels_(kernels) {}

  Screening run() {
    for (const StrategyOptions& variant : strategy_.variants(problem_, degrees_)) screen(variant);
    std::vector<StrategyOptions> good;
    for (const ScreenedOptions& screened : result_.fastest)
      if (good.size() < kRefined) good.push_back(screened.options);
    const std::vector<const ScreenedOptions*> finalists = result_.finalists(problem_.buffer_bytes);
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
  const LinearWork& work_;
  const ClusterTopology& cluster_;
  const KernelTimes& kernels_;
  std::vector<StrategyOptions> tried_;
  Screening result_;
};

}  // namespace

std::vector<const ScreenedOptions*> Screening::finalists(double buffer_bytes) const {
  std::vector<const ScreenedOptions*> result;
  for (const ScreenedOptions& screened : fastest)
    if (screened.buffer_bytes <= buffer_bytes) result.push_back(&screened);
  if (!result.empty() || fastest.empty()) return result;
  return {&*std::min_element(fastest.begin(), fastest.end(), [](const ScreenedOptions& a, const ScreenedOptions& b) {
    return a.buffer_bytes < b.buffer_bytes;
  })};
}

double Screening::seconds_for_buffer(double buffer_bytes) const {
  return fastest.empty() ? 0 : finalists(buffer_bytes).front()->seconds - fastest.front().seconds;
}

Screening screen_options(const Strategy& strategy, const Problem& problem, const Degrees& degrees,
                         const StrategyOptions& forced, const LinearWork& work, const ClusterTopology& cluster,
                         const KernelTimes& kernels) {
  return Screener(strategy, problem, degrees, forced, work, cluster, kernels).run();
}

}  // namespace hsap
