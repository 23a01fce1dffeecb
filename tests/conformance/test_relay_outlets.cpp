// By whose NIC rows leave a node.
#include "planner/strategies/relay/outlets.hpp"

#include <catch2/catch.hpp>
#include <random>

#include "planner/strategies/relay/range_parts.hpp"

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
  chooser.add(pieces, std::vector<Node>{{1, {}, needs}});
  const std::vector<Outlet> outlets = chooser.choose();
  CHECK(rows_of(outlets) == needs);
  for (const Outlet& outlet : outlets) CHECK(outlet.exit == outlet.holder);
}

TEST_CASE("relay outlets: rows of one group leave in equal parts from all groups of its node, if these are large enough") {
  const RelayNodes nodes({0, 0, 0, 0, 1, 1, 1, 1}, {});
  const std::vector<HeldPiece> pieces = {{0, {0, 400}, 2}, {0, {400, 500}, 4}};
  const std::vector<TokenRange> needs = {{0, 400}};
  OutletChooser chooser(nodes, 50);
  chooser.add(pieces, std::vector<Node>{{1, {}, needs}});
  const std::vector<Outlet> outlets = chooser.choose();
  CHECK(rows_of(outlets) == needs);
  std::vector<int> exits;
  for (const Outlet& outlet : outlets) {
    CHECK(outlet.holder == 2);
    CHECK(outlet.rows.size() == 100);
    exits.push_back(outlet.exit);
  }
  CHECK(exits == std::vector<int>{2, 0, 1, 3});
  OutletChooser coarse(nodes, 101);  // shares of 100 are not worth a message
  coarse.add(pieces, std::vector<Node>{{1, {}, needs}});
  const std::vector<Outlet> whole = coarse.choose();
  REQUIRE(whole.size() == 1);
  CHECK(whole.front().exit == 2);
}

TEST_CASE(
    "relay outlets: a group keeps what others hold as much of, in other documents, and what does not delay the busiest node") {
  const RelayNodes nodes({0, 0, 1, 1}, {});
  const std::vector<TokenRange> first = {{0, 400}}, second = {{500, 900}};
  SECTION("two documents, each of one group of the node") {
    OutletChooser chooser(nodes, 50);
    chooser.add(std::vector<HeldPiece>{{0, {0, 400}, 0}, {0, {400, 500}, 2}}, std::vector<Node>{{1, {}, first}});
    chooser.add(std::vector<HeldPiece>{{1, {500, 900}, 1}, {1, {900, 1000}, 3}}, std::vector<Node>{{1, {}, second}});
    const std::vector<Outlet> outlets = chooser.choose();
    REQUIRE(outlets.size() == 2);
    for (const Outlet& outlet : outlets) CHECK(outlet.exit == outlet.holder);
  }
  SECTION("what is too much for two groups goes to the others only") {
    const RelayNodes wide({0, 0, 0, 0, 1, 1, 1, 1}, {});
    OutletChooser chooser(wide, 10);
    const std::vector<TokenRange> all = {{0, 400}};
    chooser.add(
        std::vector<HeldPiece>{
            {0, {0, 180}, 0}, {0, {180, 360}, 1}, {0, {360, 380}, 2}, {0, {380, 400}, 3}, {0, {400, 500}, 4}},
        std::vector<Node>{{1, {}, all}});
    Token elsewhere = 0;
    for (const Outlet& outlet : chooser.choose()) {
      if (outlet.exit == outlet.holder) continue;
      CHECK(outlet.holder < 2);
      CHECK(outlet.exit >= 2);
      elsewhere += outlet.rows.size();
    }
    CHECK(elsewhere == 2 * (180 - 100));
  }
  SECTION("the NICs of the other node are as busy with what enters there") {
    const RelayNodes narrow({0, 0, 1}, {});
    OutletChooser chooser(narrow, 50);
    chooser.add(std::vector<HeldPiece>{{0, {0, 400}, 0}, {0, {400, 500}, 2}}, std::vector<Node>{{1, {}, first}});
    const std::vector<Outlet> outlets = chooser.choose();
    REQUIRE(outlets.size() == 1);
    CHECK(outlets.front().exit == 0);
  }
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
  const Token least = draw(1, 40), documents = draw(1, 3);
  CAPTURE(seed, groups, least, documents);

  OutletChooser chooser(nodes, least);
  std::vector<TokenRange> wanted;
  std::vector<double> held(node_of_group.size()), sent(node_of_group.size()), leaving(4), entering(4);
  std::vector<std::vector<TokenRange>> needs(4);  // of all documents
  Token end = 0;
  for (Token document = 0; document < documents; ++document) {
    const Token first = end;
    std::vector<HeldPiece> pieces;
    for (Token piece = draw(1, 20); piece > 0; --piece) {
      const Token begin = end;
      end += draw(1, 300);
      pieces.push_back({static_cast<std::size_t>(document), {begin, end}, static_cast<int>(draw(0, groups - 1))});
    }
    std::vector<std::vector<TokenRange>> of_document(4);
    std::vector<Node> of_nodes;
    for (int node = 0; node < 4; ++node) {
      std::vector<TokenRange>& ranges = of_document[static_cast<std::size_t>(node)];
      for (Token count = draw(0, 3); count > 0; --count) {
        const Token begin = draw(first, end - 1);
        ranges.push_back({begin, draw(begin + 1, end)});
      }
      normalise(ranges);
      of_nodes.push_back({node, {}, ranges});
      needs[static_cast<std::size_t>(node)].insert(needs[static_cast<std::size_t>(node)].end(), ranges.begin(), ranges.end());
    }
    chooser.add(pieces, of_nodes);
    for (const HeldPiece& piece : pieces)
      for (const Node& other : of_nodes)
        if (other.node != nodes.node(piece.group))
          for_each_common(piece.rows, other.needs, [&](const TokenRange& rows) {
            wanted.push_back(rows);
            const auto copies = static_cast<double>(rows.size());
            held[static_cast<std::size_t>(piece.group)] += copies;
            leaving[static_cast<std::size_t>(nodes.node(piece.group))] += copies;
            entering[static_cast<std::size_t>(other.node)] += copies;
          });
  }
  const std::vector<Outlet> outlets = chooser.choose();
  normalise(wanted);
  std::vector<TokenRange> all = rows_of(outlets);
  normalise(all);
  CHECK(all == wanted);
  for (const Outlet& outlet : outlets) {
    CHECK(nodes.node(outlet.exit) == nodes.node(outlet.holder));
    for (int node = 0; node < 4; ++node)
      if (node != nodes.node(outlet.exit))
        for_each_common(outlet.rows, needs[static_cast<std::size_t>(node)], [&](const TokenRange& rows) {
          sent[static_cast<std::size_t>(outlet.exit)] += static_cast<double>(rows.size());
        });
  }
  double share = 0;  // of the busiest NICs
  for (int node = 0; node < 4; ++node) {
    const auto n = static_cast<std::size_t>(node);
    share = std::max(share, std::max(leaving[n], entering[n]) / nodes.groups(node));
  }
  for (std::size_t group = 0; group < held.size(); ++group) {
    CAPTURE(group, held[group], share);
    // weights are means over pieces, and parts are not below `least` rows, each of which at most three nodes need
    CHECK(sent[group] <= std::max(held[group], 3 * share + 6.0 * static_cast<double>(least) + 1));
  }
}

}  // namespace
}  // namespace hsap
