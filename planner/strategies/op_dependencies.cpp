#include "planner/strategies/op_dependencies.hpp"

#include <utility>

namespace hsap {

OpList OpDependencies::after() const {
  OpList after;
  for (const OpIndex number : latest_)
    if (number > 0) after.push_back(number - 1);
  if (after.size() == 2 && after.front() > after.back()) std::swap(after.front(), after.back());
  return after;
}

void OpDependencies::find_latest(const Slice& slice, const BufferAccesses::Access& last, std::size_t stream) {
  const BufferAccesses::Access* access = &last;
  while (!overlap(slice, *access)) {
    if (access->before == BufferAccesses::kNone) return;
    access = &earlier_.access(access->before);
    if (access->op < latest_[stream]) return;
  }
  latest_[stream] = access->op + 1;
}

bool OpDependencies::overlap(const Slice& slice, const BufferAccesses::Access& access) {
  if (slice.heads.begin >= access.heads.end || access.heads.begin >= slice.heads.end) return false;
  return slice.tokens == access.tokens || sets_.intersect(slice.tokens, access.tokens);
}

}  // namespace hsap
