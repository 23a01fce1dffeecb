#include "planner/strategies/round_schedule.hpp"

#include <algorithm>

namespace hsap {

namespace {

/// How much each node sends and takes in, in each round.
class RoundLoads {
 public:
  RoundLoads(int nodes, int rounds, Token rows)
      : rounds_(rounds),
        rows_(std::max<Token>(1, rows)),
        sent_(static_cast<std::size_t>(nodes * rounds)),
        taken_(static_cast<std::size_t>(nodes * rounds)) {}

  /// The first round from `earliest` on in which rows can go from one node to the other.
  int first_with_room(int from, int to, int earliest, Token rows) const {
    int round = earliest;
    for (; round + 1 < rounds_; ++round) {
      const Token busy = std::max(sent_[index(from, round)], taken_[index(to, round)]);
      if (busy == 0 || busy + rows <= most(round)) break;
    }
    return round;
  }

  void add(int from, int to, int round, Token rows) {
    sent_[index(from, round)] += rows;
    taken_[index(to, round)] += rows;
  }

 private:
  /// The first rounds are short, for nobody has much to do before they are over.
  Token most(int round) const { return round < 2 ? rows_ / (4 >> round) : rows_; }
  std::size_t index(int node, int round) const { return static_cast<std::size_t>(node * rounds_ + round); }

  const int rounds_;
  const Token rows_;
  std::vector<Token> sent_, taken_;  // [node][round]
};

constexpr int kNever = -1;

}  // namespace

void choose_rounds(std::span<TransferCircle* const> circles, const RelayNodes& nodes, Token rows) {
  struct Entry {
    double deadline;
    std::size_t circle, transfer;
  };
  std::vector<Entry> order;
  std::vector<std::vector<int>> taken(circles.size());  // [circle][unit][place] round in which all of it came
  for (std::size_t c = 0; c < circles.size(); ++c) {
    taken[c].assign(circles[c]->units.size() * circles[c]->nodes.size(), kNever);
    for (std::size_t t = 0; t < circles[c]->transfers.size(); ++t) order.push_back({circles[c]->transfers[t].deadline, c, t});
  }
  std::stable_sort(order.begin(), order.end(), [](const Entry& a, const Entry& b) { return a.deadline < b.deadline; });

  RoundLoads loads(nodes.nodes(), nodes.between_stages, rows);
  for (const Entry& entry : order) {
    TransferCircle& circle = *circles[entry.circle];
    UnitTransfer& transfer = circle.transfers[entry.transfer];
    const TransferCircle::Unit& unit = circle.units[transfer.unit];
    int* const taken_at = &taken[entry.circle][transfer.unit * circle.nodes.size()];
    const auto node_before = [&](std::size_t distance) { return circle.nodes[circle.before(transfer.taker, distance)]; };
    const int to = circle.nodes[transfer.taker];
    const Token load = transfer.rows * nodes.groups(to) / unit.nics;  // of a NIC, times those of a node
    transfer.source = transfer.distance;
    transfer.round = loads.first_with_room(node_before(transfer.distance), to, 0, load);
    for (std::size_t distance = 1; distance < transfer.distance; distance *= 2) {
      const int there = taken_at[circle.before(transfer.taker, distance)];
      if (there == kNever || there + 1 >= transfer.round) continue;
      const int round = loads.first_with_room(node_before(distance), to, there + 1, load);
      if (round < transfer.round) transfer.source = distance, transfer.round = round, transfer.source_round = there;
    }
    loads.add(node_before(transfer.source), to, transfer.round, load);
    if (transfer.rows == unit.rows) taken_at[transfer.taker] = transfer.round;
  }
}

}  // namespace hsap
