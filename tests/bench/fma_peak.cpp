#include "tests/bench/fma_peak.hpp"

#include <algorithm>
#include <ctime>

namespace hsap {

// One per instruction set, from fma_loop.cpp.
namespace avx512 {
double fma_loop(long rounds);
}
namespace avx2 {
double fma_loop(long rounds);
}
namespace baseline {
double fma_loop(long rounds);
}

namespace {

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

double fma_peak_flops_per_second(int lanes) {
  constexpr long kRounds = 4'000'000;
  double best = 0;
  for (int repeat = 0; repeat < 5; ++repeat) {
    const double begin = cpu_seconds();
    const double flops = lanes == 16  ? avx512::fma_loop(kRounds)
                         : lanes == 8 ? avx2::fma_loop(kRounds)
                                      : baseline::fma_loop(kRounds);
    best = std::max(best, flops / (cpu_seconds() - begin));
  }
  return best;
}

}  // namespace hsap
