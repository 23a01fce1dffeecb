// Keys that enter a bin because it has rows that see them and does not hold them.
#pragma once

#include "planner/ir/document_mask.hpp"
#include "planner/placement/bin.hpp"

namespace hsap {

/// Keys, each counted once, that the rows of cut documents see and that the bin does not hold.
Token entering_keys(const Bin& bin, const DocumentMask& mask);

}  // namespace hsap
