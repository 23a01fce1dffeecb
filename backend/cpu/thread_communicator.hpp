// Messages between ranks that are threads of one process. A message is a rendezvous: the receiver copies straight out of the
// sender's buffers, and the sender waits until it has. So a message that is never received is noticed as surely as one that is
// never sent.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "backend/communicator.hpp"
#include "backend/monitor.hpp"

namespace hsap {

/// The post office of one phase: all messages under way.
class ThreadMail {
 public:
  explicit ThreadMail(Monitor& monitor) : monitor_(monitor) {}

 private:
  friend class ThreadCommunicator;
  struct Outgoing {
    std::vector<MessagePart> parts;
    bool received = false;
  };
  /// From one rank to one other.
  struct Channel {
    std::vector<std::shared_ptr<Outgoing>> sent;  // [number of the message]; nullptr once fetched
    std::size_t receives = 0;                     // posted so far: the next one gets this message
  };
  Monitor& monitor_;
  std::map<std::pair<RankId, RankId>, Channel> channels_;  // [sender, receiver], under the monitor's lock
};

/// One rank's end.
class ThreadCommunicator : public Communicator {
 public:
  ThreadCommunicator(ThreadMail& mail, RankId rank) : mail_(mail), rank_(rank) {}
  void exchange(const std::vector<PostedMessage>& sends, const std::vector<PostedMessage>& recvs,
                const std::string& where) override;

 private:
  ThreadMail& mail_;
  const RankId rank_;
};

}  // namespace hsap
