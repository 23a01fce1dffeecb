// By whose NIC rows leave a node.
#include "planner/strategies/relay_outlets.hpp"

#include <catch2/catch.hpp>
#include <random>

#include "planner/strategies/range_parts.hpp"

namespace hsap {
namespace {

using Node = RelayDocument::Node;

std::vector<TokenRange> rows_of(const std::vector<Outlet>& outlets) {
  std::vector<TokenRange> rows;
  for (const Outlet& outlet : outlets) append(rows, outlet.rows);
  return rows;
}

TEST_CASE("relay outlets: rows that groups hold evenly leave from there") {
  const RelayNodes nodes({0, 0, 1, 1}, {});
  OutletChooser chooser(nodes, 1);
  const std::vector<HeldPiece> pieces = {{0, {0, 100}, 0}, {0, {100, 200}, 1}, {0, {200, 300}, 2}};
  const std::vector<TokenRange> needs = {{0, 200}};
  for (const Outlet& outlet : chooser.choose(pieces, std::vector<Node>{{1, {}, needs}})) CHECK(outlet.exit == outlet.holder);
}

TEST_CASE("relay outlets: rows of one group leave in equal parts from all groups of its node, if these are large enough") {
  const RelayNodes nodes({0, 0, 0, 0, 1, 1}, {});
  const std::vector<HeldPiece> pieces = {{0, {0, 400}, 2}, {0, {400, 500}, 4}};
  const std::vector<TokenRange> needs = {{0, 400}};
  OutletChooser chooser(nodes, 50);
  const std::vector<Outlet> outlets = chooser.choose(pieces, std::vector<Node>{{1, {}, needs}});
  CHECK(rows_of(outlets) == std::vector<TokenRange>{{0, 400}});
  std::vector<int> exits;
  for (const Outlet& outlet : outlets) {
    CHECK(outlet.holder == 2);
    CHECK(outlet.rows.size() == 100);
    exits.push_back(outlet.exit);
  }
  CHECK(exits == std::vector<int>{2, 0, 1, 3});
  OutletChooser coarse(nodes, 101);  // shares of 100 are not worth a message
  CHECK(coarse.choose(pieces, std::vector<Node>{{1, {}, needs}}).size() == 1);
  CHECK(coarse.choose(pieces, std::vector<Node>{{1, {}, needs}}).front().exit == 2);
}

TEST_CASE("relay outlets: what is needed elsewhere leaves once, from the node of its holder, and no group sends far too much") {
  const std::uint64_t seed = GENERATE(range(1, 61));
  std::mt19937_64 random(seed);
  const auto draw = [&](Token low, Token high) {
    return low + static_cast<Token>(random() % static_cast<std::uint64_t>(high - low + 1));
  };
  std::vector<int> node_of_group;
  for (int node = 0; node < 4; ++node)
    for (Token groups = draw(1, 5); groups > 0; --groups) node_of_group.push_back(node);
  const RelayNodes nodes(node_of_group, {});
  const auto groups = static_cast<Token>(node_of_group.size());
  std::vector<HeldPiece> pieces;
  Token end = 0;
  for (Token piece = draw(1, 20); piece > 0; --piece) {
    const Token begin = end;
    end += draw(1, 300);
    pieces.push_back({0, {begin, end}, static_cast<int>(draw(0, groups - 1))});
  }
  std::vector<std::vector<TokenRange>> needs(4);
  std::vector<Node> of_nodes;
  for (int node = 0; node < 4; ++node) {
    for (Token ranges = draw(0, 3); ranges > 0; --ranges) {
      const Token begin = draw(0, end - 1);
      needs[static_cast<std::size_t>(node)].push_back({begin, draw(begin + 1, end)});
    }
    normalise(needs[static_cast<std::size_t>(node)]);
    of_nodes.push_back({node, {}, needs[static_cast<std::size_t>(node)]});
  }
  const Token least = draw(1, 40);
  CAPTURE(seed, groups, least);
  OutletChooser chooser(nodes, least);
  for (int again = 0; again < 2; ++again) {  // nothing is left from the document before
    const std::vector<Outlet> outlets = chooser.choose(pieces, of_nodes);
    std::vector<TokenRange> wanted;
    std::vector<double> held(node_of_group.size()), sent(node_of_group.size()), total(4);
    for (const HeldPiece& piece : pieces)
      for (const Node& other : of_nodes)
        if (other.node != nodes.node(piece.group))
          for_each_common(piece.rows, other.needs, [&](const TokenRange& rows) {
            wanted.push_back(rows);
            held[static_cast<std::size_t>(piece.group)] += static_cast<double>(rows.size());
            total[static_cast<std::size_t>(nodes.node(piece.group))] += static_cast<double>(rows.size());
          });
    normalise(wanted);
    CHECK(rows_of(outlets) == wanted);
    for (const Outlet& outlet : outlets) {
      CHECK(nodes.node(outlet.exit) == nodes.node(outlet.holder));
      for (const Node& other : of_nodes)
        if (other.node != nodes.node(outlet.exit))
          for_each_common(outlet.rows, other.needs, [&](const TokenRange& rows) {
            sent[static_cast<std::size_t>(outlet.exit)] += static_cast<double>(rows.size());
          });
    }
    for (int group = 0; group < static_cast<int>(groups); ++group) {
      const auto g = static_cast<std::size_t>(group);
      const int lanes = nodes.first(nodes.node(group) + 1) - nodes.first(nodes.node(group));
      const double share = total[static_cast<std::size_t>(nodes.node(group))] / lanes;
      // weights are means over pieces, and parts are not below `least` rows, each of which at most three nodes need
      CHECK(sent[g] <= std::max(held[g], 3 * share + 6.0 * static_cast<double>(least) + 1));
    }
  }
}

}  // namespace
}  // namespace hsap
