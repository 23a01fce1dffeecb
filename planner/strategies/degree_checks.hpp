// What strategies say about degrees: the pairs whose product is the number of ranks, and refusals that name what would work.
#pragma once

#include <string>
#include <vector>

#include "planner/strategies/strategy.hpp"

namespace hsap {

/// All intra x inter = ranks, intra ascending.
std::vector<Degrees> all_degrees(int ranks);
/// Those of all_degrees() whose intra degree can share the heads (head_exchange.hpp).
std::vector<Degrees> head_parallel_degrees_of(const Problem& problem);

/// Throws InvalidInput "ulysses: ..." with the strategy's valid degrees when `degrees` is not among them; a reason from the
/// heads comes first.
void require_degrees(const Strategy& strategy, const Problem& problem, const Degrees& degrees);
/// Throws InvalidInput "ring: has no option stages; it has dkv-dtype, kv" when an option is set that the strategy lacks.
void require_options(const Strategy& strategy, const StrategyOptions& options);
/// Throws InvalidInput when the strategy does not serve the problem's attention.
void require_kind(const Strategy& strategy, const Problem& problem);

}  // namespace hsap
