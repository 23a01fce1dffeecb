#include "backend/cpu/thread_communicator.hpp"

#include <algorithm>

#include "backend/cpu/elementwise.hpp"
#include "planner/ir/errors.hpp"

namespace hsap {

namespace {

std::string text_of(const MessagePart& part) {
  return to_string(part.role) + " [" + std::to_string(part.memory.row_count) + " rows of token set " +
         std::to_string(part.tokens) + ", heads " + std::to_string(part.heads.begin) + ".." + std::to_string(part.heads.end) +
         "]";
}

void check_equal(const std::vector<MessagePart>& sent, const std::vector<MessagePart>& expected, const std::string& message) {
  if (sent.size() != expected.size())
    throw BackendFailure(message,
                         "found " + std::to_string(sent.size()) + " parts, expected " + std::to_string(expected.size()));
  for (std::size_t i = 0; i < sent.size(); ++i)
    if (sent[i].role != expected[i].role || sent[i].tokens != expected[i].tokens || sent[i].heads != expected[i].heads)
      throw BackendFailure(message,
                           "part " + std::to_string(i) + " is " + text_of(sent[i]) + ", expected " + text_of(expected[i]));
}

}  // namespace

void ThreadCommunicator::exchange(const std::vector<PostedMessage>& sends, const std::vector<PostedMessage>& recvs,
                                  const std::string& where) {
  struct Incoming {
    ThreadMail::Channel* channel;
    std::size_t number;
    const PostedMessage* message;
    std::shared_ptr<ThreadMail::Outgoing> outgoing{};
    bool arrived() const { return number < channel->sent.size(); }
    std::string name() const { return "message " + std::to_string(number) + " from rank " + std::to_string(message->peer); }
  };
  std::vector<std::shared_ptr<ThreadMail::Outgoing>> outgoing;
  std::vector<Incoming> awaited;
  mail_.monitor_.update([&] {
    for (const PostedMessage& message : sends) {
      outgoing.push_back(std::make_shared<ThreadMail::Outgoing>(ThreadMail::Outgoing{message.parts}));
      mail_.channels_[{rank_, message.peer}].sent.push_back(outgoing.back());
    }
    for (const PostedMessage& message : recvs) {
      ThreadMail::Channel& channel = mail_.channels_[{message.peer, rank_}];
      awaited.push_back({&channel, channel.receives++, &message});
    }
  });

  const auto arrived = [](const Incoming& incoming) { return incoming.arrived(); };
  const auto all_received = [&] {
    return std::all_of(outgoing.begin(), outgoing.end(), [](const auto& out) { return out->received; });
  };
  const Wait something_to_do{
      .ready = [&] { return awaited.empty() ? all_received() : std::any_of(awaited.begin(), awaited.end(), arrived); },
      .describe =
          [&] {
            if (!awaited.empty()) return where + " waits for " + awaited.front().name();
            std::size_t first = 0;
            while (outgoing[first]->received) ++first;
            return where + " waits for rank " + std::to_string(sends[first].peer) + " to receive its message";
          },
      .for_message = true};

  while (true) {
    std::vector<Incoming> here;
    bool done = false;
    mail_.monitor_.wait(something_to_do, [&] {
      done = awaited.empty();
      for (Incoming& incoming : awaited)
        if (incoming.arrived()) incoming.outgoing = std::move(incoming.channel->sent[incoming.number]);
      const auto rest =
          std::stable_partition(awaited.begin(), awaited.end(), [](const Incoming& i) { return i.outgoing == nullptr; });
      here.assign(std::make_move_iterator(rest), std::make_move_iterator(awaited.end()));
      awaited.erase(rest, awaited.end());
    });
    if (done) return;
    for (const Incoming& incoming : here) {
      const std::vector<MessagePart>& parts = incoming.message->parts;
      check_equal(incoming.outgoing->parts, parts, where + ": " + incoming.name());
      for (std::size_t i = 0; i < parts.size(); ++i) copy_rows({incoming.outgoing->parts[i].memory, parts[i].memory});
    }
    mail_.monitor_.update([&] {
      for (const Incoming& incoming : here) incoming.outgoing->received = true;
    });
  }
}

}  // namespace hsap
