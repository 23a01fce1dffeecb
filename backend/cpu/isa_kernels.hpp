// The kernels of one instruction set, in its own namespace HSAP_ISA; kernel_set.cpp makes a table of them.
#pragma once

#include "backend/cpu/kernel_set.hpp"

namespace hsap::HSAP_ISA {

double attend_softmax(const AttendCall& call);
double attend_linear(const AttendCall& call);
double attend_backward_softmax(const AttendBackwardCall& call);
double attend_backward_linear(const AttendBackwardCall& call);
double state_update(const StateUpdateCall& call);
double state_apply(const StateApplyCall& call);

}  // namespace hsap::HSAP_ISA
