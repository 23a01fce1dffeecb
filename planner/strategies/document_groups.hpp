// Programs of groups of ranks that compute their documents apart from each other. Shared by hybrid-cp and zeppelin, which
// differ in how groups are formed (document_degrees.hpp) and in how long documents' rings pass on.
#pragma once

#include <string>
#include <vector>

#include "planner/strategies/document_degrees.hpp"
#include "planner/strategies/ring_hops.hpp"
#include "planner/strategies/strategy.hpp"

namespace hsap {

/// Every group works on its documents alone, in the order of the list: rings for groups of several ranks, passing on by `pass`.
/// Every document is in exactly one group. Gradients travel in fp32.
Schedule compile_groups(const std::string& strategy, const Degrees& degrees, const Problem& problem,
                        const std::vector<DocumentGroup>& groups, const PassOn& pass = pass_directly);

}  // namespace hsap
