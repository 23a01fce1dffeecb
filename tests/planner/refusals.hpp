// For tests of verify(): that it refuses, and with which words; reaching into programs to break them.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "planner/ir/errors.hpp"
#include "planner/ir/verify.hpp"

namespace hsap::test {

/// The schedule is refused, in one line with `fragment` in it.
inline void refuse(const Schedule& schedule, const std::string& fragment, const VerifyLimits& limits = {}) {
  INFO("expected: " << fragment);
  try {
    verify(schedule, schedule.mask, limits);
    FAIL_CHECK("accepted");
  } catch (const InvalidInput& error) {
    CHECK_THAT(error.what(), Catch::Contains(fragment));
    CHECK_THAT(error.what(), !Catch::Contains("\n"));
  }
}

inline PooledList<Op>& forward(Schedule& schedule, RankId rank) { return schedule.ranks[rank].forward; }
inline PooledList<Op>& backward(Schedule& schedule, RankId rank) { return schedule.ranks[rank].backward; }

template <class Body>
Body& body(Op& op) {
  return std::get<Body>(op.body);
}

/// Removes an op; ids and `after` of the others follow.
inline void drop(PooledList<Op>& ops, OpIndex dropped) {
  ops.erase(ops.begin() + dropped);
  for (OpIndex i = 0; i < ops.size(); ++i) {
    ops[i].id = i;
    ops[i].after.erase(std::remove(ops[i].after.begin(), ops[i].after.end(), dropped), ops[i].after.end());
    for (OpIndex& earlier : ops[i].after) earlier -= earlier > dropped ? 1 : 0;
  }
}

}  // namespace hsap::test
