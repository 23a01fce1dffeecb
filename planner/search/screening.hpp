// Which option sets of a strategy are worth evaluating: all that it offers, tried by estimate(), which is cheap.
#pragma once

#include <string>
#include <vector>

#include "planner/cost/estimate.hpp"
#include "planner/strategies/strategy.hpp"

namespace hsap {

struct ScreenedOptions {
  StrategyOptions options;
  double seconds = 0;       ///< layer_seconds() of both phases, by estimate()
  double buffer_bytes = 0;  ///< communication_buffer_bytes()
};

struct Screening {
  /// Ascending seconds; of equally fast ones with equal buffers, most often the same schedule, that tried first alone.
  std::vector<ScreenedOptions> fastest;
  std::string refusal;  ///< of the last option set that the strategy refused

  /// Those whose buffers fit, fastest first; where none fits, the one that needs least. Pointers into `fastest`.
  std::vector<const ScreenedOptions*> finalists(double buffer_bytes) const;
  /// Seconds that the fastest finalist takes longer than the fastest of all: what the limit on buffers costs.
  double seconds_for_buffer(double buffer_bytes) const;
};

/// Tries Strategy::variants() with the fields that `forced` sets, and refinements() of the fastest and of the best finalist.
Screening screen_options(const Strategy& strategy, const Problem& problem, const Degrees& degrees,
                         const StrategyOptions& forced, const LinearWork& work, const ClusterTopology& cluster,
                         const KernelTimes& kernels);

}  // namespace hsap
