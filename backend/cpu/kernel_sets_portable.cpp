// On processors other than x86-64 there is one kernel set: vectors of four, which every 64-bit processor has.
#include "backend/cpu/kernel_set.hpp"

namespace hsap {

namespace baseline {
extern const KernelSet kKernelSet;
}

std::vector<const KernelSet*> supported_kernel_sets() { return {&baseline::kKernelSet}; }

}  // namespace hsap
