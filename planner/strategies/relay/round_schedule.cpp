#include "planner/strategies/relay/round_schedule.hpp"

#include <algorithm>

namespace hsap {

namespace {

/// How much each node sends and takes in, in each round.
class RoundLoads {
 public:
  RoundLoads(int nodes, int rounds, Token most)
      : rounds_(rounds),
        most_(std::max<Token>(1, most)),
        sent_(static_cast<std::size_t>(nodes * rounds)),
        taken_(static_cast<std::size_t>(nodes * rounds)),
        sent_in_all_(static_cast<std::size_t>(nodes)) {}

  /// The first round from `earliest` on in which a load can go from one node to the other.
  int first_with_room(int from, int to, int earliest, Token load) const {
    int round = earliest;
    for (; round + 1 < rounds_; ++round) {
      const Token busy = std::max(sent_[index(from, round)], taken_[index(to, round)]);
      if (busy == 0 || busy + load <= most(round)) break;
    }
    return round;
  }

  void add(int from, int to, int round, Token load) {
    sent_[index(from, round)] += load;
    taken_[index(to, round)] += load;
    sent_in_all_[static_cast<std::size_t>(from)] += load;
  }
  Token sent_in_all(int node) const { return sent_in_all_[static_cast<std::size_t>(node)]; }

 private:
  /// The first rounds are short, for nobody has much to do before they are over.
  Token most(int round) const { return round < 2 ? most_ / (4 >> round) : most_; }
  std::size_t index(int node, int round) const { return static_cast<std::size_t>(node * rounds_ + round); }

  const int rounds_;
  const Token most_;
  std::vector<Token> sent_, taken_;  // [node][round]
  std::vector<Token> sent_in_all_;   // [node]
};

/// So many of those that have a unit are asked for it.
constexpr std::size_t kSourcesAsked = 8;

/// A place that has taken in some of a unit.
struct Taken {
  std::size_t place = 0;
  std::uint64_t parts = 0;
  int round = 0;
};

}  // namespace

void choose_rounds(std::span<TransferCircle* const> circles, const RelayNodes& nodes, Token load) {
  struct Entry {
    double deadline;
    std::size_t circle, transfer;
  };
  std::vector<Entry> order;
  std::vector<std::vector<std::vector<Taken>>> taken(circles.size());  // [circle][unit]
  for (std::size_t c = 0; c < circles.size(); ++c) {
    taken[c].resize(circles[c]->units);
    for (std::size_t t = 0; t < circles[c]->transfers.size(); ++t) order.push_back({circles[c]->transfers[t].deadline, c, t});
  }
  std::stable_sort(order.begin(), order.end(), [](const Entry& a, const Entry& b) { return a.deadline < b.deadline; });

  RoundLoads loads(nodes.nodes(), nodes.between_stages, load);
  for (const Entry& entry : order) {
    TransferCircle& circle = *circles[entry.circle];
    UnitTransfer& transfer = circle.transfers[entry.transfer];
    std::vector<Taken>& others = taken[entry.circle][transfer.unit];
    const int to = circle.nodes[transfer.taker];
    transfer.source = circle.before(transfer.taker, transfer.distance);
    transfer.round = loads.first_with_room(circle.nodes[transfer.source], to, 0, transfer.load);
    const std::size_t asked = transfer.parts == 0 ? 0 : std::min(others.size(), kSourcesAsked);
    for (std::size_t i = others.size() - asked; i < others.size(); ++i) {
      const Taken& other = others[i];
      if ((other.parts & transfer.parts) != transfer.parts || other.round + 1 > transfer.round) continue;
      const int round = loads.first_with_room(circle.nodes[other.place], to, other.round + 1, transfer.load);
      const bool equal = round == transfer.round &&
                         loads.sent_in_all(circle.nodes[other.place]) < loads.sent_in_all(circle.nodes[transfer.source]);
      if (round < transfer.round || equal)
        transfer.source = other.place, transfer.round = round, transfer.source_round = other.round;
    }
    loads.add(circle.nodes[transfer.source], to, transfer.round, transfer.load);
    if (transfer.parts != 0) others.push_back({transfer.taker, transfer.parts, transfer.round});
  }
}

}  // namespace hsap
