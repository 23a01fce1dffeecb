// The seam to the other ranks: one rank's view of message passing. Implemented by threads of one process
// (cpu/thread_communicator.hpp).
//
// Order: the messages from one rank to another are matched in the order in which both sides post them. Right: rank 0 sends A
// then B, rank 1 receives A then B. Wrong: rank 1 receives B then A. Sends and receives of one exchange are posted together, so
// two ranks may each send first.
#pragma once

#include <string>
#include <vector>

#include "backend/slice_view.hpp"
#include "planner/ir/schedule.hpp"

namespace hsap {

struct MessagePart {
  SliceView memory;
  Role role = Role::q;
  TokenSetId tokens = 0;
  HeadRange heads;
};

struct PostedMessage {
  RankId peer = 0;
  std::vector<MessagePart> parts;
};

class Communicator {
 public:
  virtual ~Communicator() = default;
  /// Posts everything, then blocks the calling thread until all of it is sent and received. The memory must stay until then,
  /// and after a failure until the run has ended. Several threads of a rank may call at a time. `where` names the caller in
  /// messages. Throws BackendFailure when the parts of a message differ between its two ends.
  virtual void exchange(const std::vector<PostedMessage>& sends, const std::vector<PostedMessage>& recvs,
                        const std::string& where) = 0;
};

}  // namespace hsap
