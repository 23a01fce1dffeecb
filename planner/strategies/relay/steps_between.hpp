// The steps of a document's rows between nodes, each of which takes what it needs from the nodes that hold it.
#pragma once

#include <span>
#include <vector>

#include "planner/strategies/relay/document.hpp"
#include "planner/strategies/relay/gateways.hpp"
#include "planner/strategies/relay/outlets.hpp"
#include "planner/strategies/relay/steps.hpp"

namespace hsap {

/// Plans once.
class StepsBetween {
 public:
  StepsBetween(const RelayNodes& nodes, Token least_rows, RelaySteps& result);

  /// Documents in token order.
  void plan(std::span<const RelayDocument> documents);

 private:
  /// Rows that other nodes need, and where they leave. Those that leave from another group than their holder come to it inside
  /// the node first.
  void find_sources(const RelayDocument& document);
  void take_from_holders(const RelayDocument& document);
  /// The rows of coming_ enter the node.
  void land(const RelayDocument::Node& node);

  const RelayNodes& nodes_;
  const Token least_rows_;
  OutletChooser chooser_;
  std::span<const Outlet> outlets_;  // of the documents that are not planned yet
  Gateways gateways_;
  std::vector<HeldRows> sources_, coming_;  // of the document at hand, and of one of its nodes, ascending
};

}  // namespace hsap
