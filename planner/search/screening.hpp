// Which option sets of a strategy are worth evaluating: all that it offers, tried by estimate(), which is cheap.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "planner/cost/estimate.hpp"
#include "planner/strategies/strategy.hpp"

namespace hsap {

struct ScreenedOptions {
  StrategyOptions options;
  double seconds = 0;       ///< layer_seconds() of both phases, by estimate()
  double buffer_bytes = 0;  ///< communication_buffer_bytes()
  double memory_bytes = 0;  ///< peak_memory()
};

/// What a rank has.
struct MemoryLimits {
  double buffer_bytes = std::numeric_limits<double>::infinity();  ///< for communication buffers
  double memory_bytes = std::numeric_limits<double>::infinity();  ///< in all
};

struct Screening {
  /// Ascending seconds; of equally fast ones with equal buffers, most often the same schedule, that tried first alone.
  std::vector<ScreenedOptions> fastest;
  std::string refusal;  ///< of the last option set that the strategy refused

  /// Those that keep the limits, fastest first; where none does, the one that comes nearest. Pointers into `fastest`.
  std::vector<const ScreenedOptions*> finalists(const MemoryLimits& limits) const;
  /// Seconds that the fastest finalist takes longer than it would without a limit on buffers: what that limit costs.
  double seconds_for_buffer(const MemoryLimits& limits) const;
};

/// Tries Strategy::variants() with the fields that `forced` sets, and refinements() of the fastest and of the first finalist.
Screening screen_options(const Strategy& strategy, const Problem& problem, const Degrees& degrees,
                         const StrategyOptions& forced, const MemoryLimits& limits, const LinearWork& work,
                         const ClusterTopology& cluster, const KernelTimes& kernels);

}  // namespace hsap
