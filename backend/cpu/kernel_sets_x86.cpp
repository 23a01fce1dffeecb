// Which kernel sets exist on x86-64 and which this processor can run.
#include "backend/cpu/kernel_set.hpp"

namespace hsap {

namespace avx512 {
extern const KernelSet kKernelSet;
}
namespace avx2 {
extern const KernelSet kKernelSet;
}
namespace baseline {
extern const KernelSet kKernelSet;
}

std::vector<const KernelSet*> supported_kernel_sets() {
  std::vector<const KernelSet*> sets;
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("fma")) sets.push_back(&avx512::kKernelSet);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) sets.push_back(&avx2::kKernelSet);
  sets.push_back(&baseline::kKernelSet);
  return sets;
}

}  // namespace hsap
