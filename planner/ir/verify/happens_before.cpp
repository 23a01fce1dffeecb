#include "planner/ir/verify/happens_before.hpp"

#include <algorithm>
#include <optional>

namespace hsap::proof {

HappensBefore::HappensBefore(const PooledList<Op>& ops) : clocks_(ops.size()), streams_(ops.size()) {
  std::array<std::optional<OpIndex>, kMaxStreams> last;  // latest op of each stream
  for (OpIndex id = 0; id < ops.size(); ++id) {
    const auto stream = static_cast<std::size_t>(ops[id].stream);
    streams_[id] = static_cast<std::uint8_t>(stream);
    Clock& clock = clocks_[id];
    const auto join = [&](OpIndex done) {
      for (std::size_t s = 0; s < clock.size(); ++s) clock[s] = std::max(clock[s], clocks_[done][s]);
      clock[streams_[done]] = std::max(clock[streams_[done]], done + 1);
    };
    if (last[stream]) join(*last[stream]);
    for (const OpIndex done : ops[id].after) join(done);
    last[stream] = id;
  }
}

}  // namespace hsap::proof
