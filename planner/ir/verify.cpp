#include "planner/ir/verify.hpp"

#include <algorithm>
#include <string>

#include "planner/ir/errors.hpp"
#include "planner/ir/memory.hpp"
#include "planner/ir/units.hpp"
#include "planner/ir/verify/interpreter.hpp"
#include "planner/ir/verify/structure.hpp"

namespace hsap {

namespace {

std::string describe(const DocumentMask& mask) {
  return std::to_string(mask.tokens()) + " tokens in " + std::to_string(mask.documents()) + " documents, " +
         to_string(mask.rule());
}

void check_batch(const Schedule& schedule, const DocumentMask& mask) {
  if (schedule.mask == mask) return;
  std::string difference;
  const auto& made_for = schedule.mask.offsets();
  const auto& given = mask.offsets();
  for (std::size_t i = 0; i < std::min(made_for.size(), given.size()) && difference.empty(); ++i)
    if (made_for[i] != given[i])
      difference = "; document " + std::to_string(i) + " starts at " + std::to_string(made_for[i]) + " there, at " +
                   std::to_string(given[i]) + " here";
  throw InvalidInput("the schedule was made for another batch: for " + describe(schedule.mask) + ", found " + describe(mask) +
                     difference);
}

void check_memory(const Schedule& schedule, double limit_bytes) {
  for (RankId rank = 0; rank < schedule.ranks.size(); ++rank) {
    const MemoryUse use = memory_of(schedule, rank);
    if (use.peak_bytes > limit_bytes)
      throw InvalidInput("rank " + std::to_string(rank) + ": needs " + format_bytes(use.peak_bytes) + " at its peak in " +
                         to_string(use.peak_phase) + ", the limit is " + format_bytes(limit_bytes) +
                         "; the largest term is \"" + use.largest_term + "\" with " + format_bytes(use.largest_term_bytes));
  }
}

}  // namespace

void verify(const Schedule& schedule, const DocumentMask& mask, const VerifyLimits& limits) {
  check_batch(schedule, mask);
  proof::check_layer(schedule);
  proof::TokenAlgebra sets(schedule.token_sets);
  proof::TokenCounts counts(sets);
  proof::check_ownership(schedule, counts);
  proof::check_programs(schedule, sets);
  proof::Interpreter interpreter(schedule, sets, counts);
  interpreter.run(Phase::forward);
  interpreter.run(Phase::backward);
  interpreter.check_all_was_read();
  if (limits.memory_bytes) check_memory(schedule, *limits.memory_bytes);
}

}  // namespace hsap
