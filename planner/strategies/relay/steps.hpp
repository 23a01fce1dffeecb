// The single steps that rows take from the group that holds them to those that need them, worked out one cut document at a
// time, or in rounds for all together; plan.hpp says by which rules, and makes messages of them.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/ir/document_mask.hpp"
#include "planner/strategies/relay/nodes.hpp"

namespace hsap {

/// How rows come to a group. Ways are ordered as their members are.
struct Way {
  int stage = 0;
  Hop hop = Hop::inside;
  int from = 0;
  int source_stage = 0;           ///< in which `from` got them; 0 for its own
  Store source = Store::own;      ///< in `from`
  Store arrival = Store::needed;  ///< where they go: never own

  /// The same as one number, in the same order. @pre stage < 2^18, from < 2^28, source_stage < 2^12
  std::uint64_t number() const {
    const auto bits = [](auto value) { return static_cast<std::uint64_t>(value); };
    return (3 * bits(stage) + bits(hop)) << kFirstBitOfMeeting | bits(from) << kFirstBitOfSender | bits(source_stage) << 3 |
           bits(source) << 1 | bits(arrival == Store::passing);
  }

  // Bits of the number, from the lowest on: 1 for the arrival, 2 for the source, 12 for its stage, 28 for the sender; the rest
  // for stage and hop, in which groups meet.
  static constexpr int kFirstBitOfSender = 15, kFirstBitOfMeeting = 43;
};

inline Way way_of(std::uint64_t number) {
  const auto bits = [number](int first, int count) { return static_cast<int>(number >> first & ((1ULL << count) - 1)); };
  const int meeting = bits(Way::kFirstBitOfMeeting, 21);
  return {.stage = meeting / 3,
          .hop = static_cast<Hop>(meeting % 3),
          .from = bits(Way::kFirstBitOfSender, 28),
          .source_stage = bits(3, 12),
          .source = static_cast<Store>(bits(1, 2)),
          .arrival = bits(0, 1) != 0 ? Store::passing : Store::needed};
}

/// Rows of one document that come to a group by one way.
struct RelayStep {
  std::uint64_t way = 0;  ///< Way::number()
  int to = 0;
  std::uint32_t first = 0, count = 0;  ///< of RelaySteps::ranges, ascending
};

/// Rows of an arrival: RelayNodes::arrival().
struct ArrivalRows {
  std::size_t arrival = 0;
  TokenRange rows;
};

struct RelaySteps {
  std::vector<RelayStep> steps;
  std::vector<TokenRange> ranges;
  /// What each arrival consists of, and what of it entered the node there. Those of one ascend, in rounds they do not.
  std::vector<ArrivalRows> coming, entering;
  std::vector<bool> leaves;  ///< [arrival] some of the rows go on to other nodes

  void add(const Way& way, int to, const TokenRange& rows) {
    steps.push_back({way.number(), to, static_cast<std::uint32_t>(ranges.size()), 1});
    ranges.push_back(rows);
  }
};

/// `groups` = the tokens that each holds. Time: steps, and for each node the pieces of documents that it may need.
RelaySteps plan_relay_steps(const DocumentMask& mask, const std::vector<const TokenSet*>& groups, const RelayNodes& nodes,
                            Token least_rows);

}  // namespace hsap
