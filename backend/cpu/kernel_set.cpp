// The table of one instruction set. Compiled once for each.
#include "backend/cpu/isa_kernels.hpp"

namespace hsap::HSAP_ISA {

extern const KernelSet kKernelSet;
const KernelSet kKernelSet{HSAP_ISA_NAME,          HSAP_LANES,   attend_softmax, attend_linear, attend_backward_softmax,
                           attend_backward_linear, state_update, state_apply};

}  // namespace hsap::HSAP_ISA
