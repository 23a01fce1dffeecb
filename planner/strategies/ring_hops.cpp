#include "planner/strategies/ring_hops.hpp"

#include <map>
#include <utility>

namespace hsap {

void pass_directly(ProgramBuilder& builder, Phase phase, int step, const std::vector<Hop>& hops) {
  pass_on_stream(builder, kCommunicationStream, phase, step, hops);
}

void pass_on_stream(ProgramBuilder& builder, int stream, Phase phase, int step, const std::vector<Hop>& hops) {
  std::map<RankId, Exchange> exchanges;
  for (const Hop& hop : hops) {
    builder.add_message(exchanges[hop.from].sends, hop.to, hop.out);
    builder.add_message(exchanges[hop.to].recvs, hop.from, hop.in);
  }
  for (auto& [rank, exchange] : exchanges) builder.add(rank, phase, stream, step, std::move(exchange));
}

}  // namespace hsap
