#include "planner/strategies/relay_steps.hpp"

#include <algorithm>
#include <span>

#include "planner/strategies/relay_between.hpp"
#include "planner/strategies/relay_document.hpp"
#include "planner/strategies/relay_rounds.hpp"
#include "planner/strategies/stage_counter.hpp"

namespace hsap {

// Bits of the number of a way, from the lowest on: 1 for the arrival, 2 for the source, 12 for its stage, 28 for the sender.
std::uint64_t Way::number() const {
  const auto bits = [](auto value) { return static_cast<std::uint64_t>(value); };
  return (3 * bits(stage) + bits(hop)) << 43 | bits(from) << 15 | bits(source_stage) << 3 | bits(source) << 1 |
         bits(arrival == Store::passing);
}

Way way_of(std::uint64_t number) {
  const auto bits = [number](int first, int count) { return static_cast<int>(number >> first & ((1ULL << count) - 1)); };
  const int stage_and_hop = bits(43, 21);
  return {.stage = stage_and_hop / 3,
          .hop = static_cast<Hop>(stage_and_hop % 3),
          .from = bits(15, 28),
          .source_stage = bits(3, 12),
          .source = static_cast<Store>(bits(1, 2)),
          .arrival = bits(0, 1) != 0 ? Store::passing : Store::needed};
}

namespace {

/// From holders to those members of their node that need the rows.
class StepsInside {
 public:
  StepsInside(const RelayNodes& nodes, Token least_rows, RelaySteps& result)
      : nodes_(nodes),
        least_rows_(least_rows),
        result_(result),
        rows_of_stage_(static_cast<std::size_t>(nodes.inside_stages)) {}

  void plan(const RelayDocument& document) {
    for (const RelayDocument::Node& node : document.nodes())
      for (const RelayDocument::Member& to : node.members) plan_to(to, node.members);
  }

 private:
  using Member = RelayDocument::Member;

  void plan_to(const Member& to, std::span<const Member> members) {
    const auto each_held = [&](const auto& visit) {  // the last holders first: theirs is the last stage
      for (std::size_t from = members.size(); from-- > 0;)
        if (members[from].group != to.group)
          for (const TokenRange& rows : members[from].rows)
            for_each_common(rows, to.needs, [&](const TokenRange& common) { visit(members[from].group, common); });
    };
    Token total = 0;
    if (nodes_.inside_stages > 1) each_held([&](int, const TokenRange& rows) { total += rows.size(); });
    StageCounter counter(total, nodes_.inside_stages, least_rows_);
    each_held([&](int holder, const TokenRange& rows) {
      counter.split(rows, [&](int stage, const TokenRange& part) {
        result_.add({.stage = stage, .hop = Hop::inside, .from = holder}, to.group, part);
        rows_of_stage_[static_cast<std::size_t>(stage)].push_back(part);
      });
    });
    for (int stage = 0; stage < nodes_.inside_stages; ++stage) {
      std::vector<TokenRange>& rows = rows_of_stage_[static_cast<std::size_t>(stage)];
      normalise(rows);
      std::vector<TokenRange>& come = result_.arrivals[nodes_.arrival(to.group, stage, Store::needed)].rows;
      for (const TokenRange& range : rows) append(come, range);
      rows.clear();
    }
  }

  const RelayNodes& nodes_;
  const Token least_rows_;
  RelaySteps& result_;
  std::vector<std::vector<TokenRange>> rows_of_stage_;  // of the member at hand
};

template <class Plan>
void for_each_document(const std::vector<HeldPiece>& pieces, RelayDocument& document, const Plan& plan) {
  for (std::size_t first = 0, last = 0; first < pieces.size(); first = last) {
    while (last < pieces.size() && pieces[last].document == pieces[first].document) ++last;
    document.read(std::span(pieces).subspan(first, last - first));
    plan();
  }
}

/// Rows that come into the node into which most do.
Token most_entering(const std::vector<HeldPiece>& pieces, const RelayNodes& nodes, RelayDocument& document) {
  std::vector<Token> rows(static_cast<std::size_t>(nodes.nodes()));
  for_each_document(pieces, document, [&] {
    for (const RelayDocument::Node& node : document.nodes()) {
      Token& of_node = rows[static_cast<std::size_t>(node.node)];
      for (const TokenRange& range : node.needs) of_node += range.size();
      for (const RelayDocument::Member& member : node.members)
        for (const TokenRange& held : member.rows)
          for_each_common(held, node.needs, [&](const TokenRange& common) { of_node -= common.size(); });
    }
  });
  return *std::max_element(rows.begin(), rows.end());
}

}  // namespace

RelaySteps plan_relay_steps(const DocumentMask& mask, const std::vector<HeldPiece>& pieces, const RelayNodes& nodes,
                            Token least_rows) {
  RelaySteps result;
  result.arrivals.resize(nodes.arrival(static_cast<int>(nodes.node_of_group.size()), 0, Store::needed));
  RelayDocument document(mask, nodes);
  StepsInside inside(nodes, least_rows, result);
  if (nodes.nodes() == 1) {
    for_each_document(pieces, document, [&] { inside.plan(document); });
  } else if (nodes.in_rounds) {
    StepsInRounds between(nodes, std::max<Token>(1, least_rows), most_entering(pieces, nodes, document), result);
    for_each_document(pieces, document, [&] { inside.plan(document), between.plan(document); });
  } else {
    StepsBetween between(nodes, std::max<Token>(1, least_rows), result);
    for_each_document(pieces, document, [&] { inside.plan(document), between.plan(document); });
  }
  return result;
}

}  // namespace hsap
