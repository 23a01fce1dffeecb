// The steps of rows between nodes in rounds (round_schedule.hpp), of all documents together. Nodes pass on what came to them,
// so that a node whose rows all others need does not send them to each. Each part of a unit leaves and enters nodes by NICs in
// the same position.
#pragma once

#include <span>
#include <vector>

#include "planner/strategies/relay/circle.hpp"
#include "planner/strategies/relay/document.hpp"
#include "planner/strategies/relay/gateways.hpp"

namespace hsap {

/// Plans once.
class StepsInRounds {
 public:
  /// `own_pairs` = [group] pairs of its rows with those of its node.
  StepsInRounds(const DocumentMask& mask, const RelayNodes& nodes, Token least_rows, std::vector<double> own_pairs,
                RelaySteps& result);

  /// Adds the steps of all documents, which stay where they are meanwhile. O(places x units of each document, for each node
  /// of a document its members squared, and transfers x (log transfers + rounds)).
  void plan(std::span<const RelayDocument> documents);

 private:
  /// Rows that enter the node into which most do.
  Token most_entering() const;
  /// Who has computed all that it could needs rows most urgently: a deadline is about the least number of pairs that a group
  /// which needs the unit can compute before it comes, with the keys of its node and of units that it takes first: those that
  /// give most pairs for a row, to it and to its node (geometric mean, in steps of sqrt 2), of equal ones the nearest. A group
  /// then has much to do while rows come that give it little. (Our own rule, chosen by simulation.)
  void set_deadlines();
  void take(const RelayCircle& circle, const UnitTransfer& transfer);

  /// What groups need of others of their node and does not leave by their NICs comes in the later stages inside, some of each
  /// holder's rows in each, so that all send all the time.
  void plan_rest_inside(std::span<const RelayDocument> documents);

  const DocumentMask& mask_;
  const RelayNodes& nodes_;
  const Token least_rows_;
  const std::vector<double> own_pairs_;
  RelaySteps& result_;
  Gateways gateways_;
  std::vector<RelayCircle> circles_;
};

}  // namespace hsap
