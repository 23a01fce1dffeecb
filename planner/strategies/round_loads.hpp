// How much each node sends and takes in, in each round.
#pragma once

#include <algorithm>
#include <vector>

#include "planner/ir/token_set.hpp"

namespace hsap {

class RoundLoads {
 public:
  /// `rows` = that a node may send, and take in, in one round; the last round has no limit.
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
      if (busy == 0 || busy + rows <= rows_) break;
    }
    return round;
  }

  void add(int from, int to, int round, Token rows) {
    sent_[index(from, round)] += rows;
    taken_[index(to, round)] += rows;
  }

 private:
  std::size_t index(int node, int round) const { return static_cast<std::size_t>(node * rounds_ + round); }

  const int rounds_;
  const Token rows_;
  std::vector<Token> sent_, taken_;  // [node][round]
};

}  // namespace hsap
