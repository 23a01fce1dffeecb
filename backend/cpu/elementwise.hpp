// Kernels without matrix products: plain loops over rows, bound by memory. Slices of one call have equal rows and heads.
#pragma once

#include "backend/kernel_calls.hpp"

namespace hsap {

/// into = from
void copy_rows(const TransferCall& call);
/// slice = 0
void zero_rows(const SliceView& slice);
/// into += from
void add_rows(const TransferCall& call);
/// lse' = log(e^lse + e^from_lse), o' = o e^(lse - lse') + from_o e^(from_lse - lse'); two rows without keys stay 0 and
/// -infinity.
void merge_rows(const MergeCall& call);
/// delta = sum over the width of d_o o
void delta_rows(const DeltaCall& call);
/// state = sum of terms, each times exp(-rate distance)
void sum_states(const StateSumCall& call);

}  // namespace hsap
