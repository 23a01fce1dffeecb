#include "planner/strategies/edge_colouring.hpp"

#include <algorithm>
#include <cstddef>

namespace hsap {

namespace {

constexpr int kNone = -1;

/// edge_at(rank, colour): the edge of that colour at a rank, for one side of the graph.
class Side {
 public:
  Side(int ranks, int colours)
      : colours_(colours), edge_(static_cast<std::size_t>(ranks) * static_cast<std::size_t>(colours), kNone) {}
  int& edge_at(int rank, int colour) {
    return edge_[static_cast<std::size_t>(rank) * static_cast<std::size_t>(colours_) + static_cast<std::size_t>(colour)];
  }
  int lowest_free(int rank) {
    int colour = 0;
    while (edge_at(rank, colour) != kNone) ++colour;
    return colour;
  }

 private:
  int colours_;
  std::vector<int> edge_;
};

int largest_degree(const std::vector<MessageEdge>& edges, int ranks) {
  std::vector<int> sends(static_cast<std::size_t>(ranks), 0), receives(static_cast<std::size_t>(ranks), 0);
  int largest = 0;
  for (const MessageEdge& edge : edges)
    largest = std::max({largest, ++sends[static_cast<std::size_t>(edge.from)], ++receives[static_cast<std::size_t>(edge.to)]});
  return largest;
}

}  // namespace

std::vector<int> colour_edges(const std::vector<MessageEdge>& edges, int ranks) {
  const int colours = largest_degree(edges, ranks);
  Side senders(ranks, colours), receivers(ranks, colours);
  std::vector<int> colour_of(edges.size(), kNone);
  const auto set_colour = [&](int edge, int colour) {
    const MessageEdge& e = edges[static_cast<std::size_t>(edge)];
    colour_of[static_cast<std::size_t>(edge)] = colour;
    senders.edge_at(e.from, colour) = edge;
    receivers.edge_at(e.to, colour) = edge;
  };
  for (int edge = 0; edge < static_cast<int>(edges.size()); ++edge) {
    const auto [from, to] = edges[static_cast<std::size_t>(edge)];
    int colour = 0;
    while (colour < colours && (senders.edge_at(from, colour) != kNone || receivers.edge_at(to, colour) != kNone)) ++colour;
    if (colour < colours) {
      set_colour(edge, colour);
      continue;
    }
    // `a` is free at the sender, `b` at the receiver. Swapping a and b along the path that leaves the receiver by colour a
    // frees a there; the graph is bipartite, so the path never comes to the sender.
    const int a = senders.lowest_free(from);
    const int b = receivers.lowest_free(to);
    std::vector<int> path;
    int wanted = a;
    for (int next = receivers.edge_at(to, a); next != kNone;) {
      path.push_back(next);
      const bool at_receiver = wanted == a;
      wanted = at_receiver ? b : a;
      const MessageEdge& e = edges[static_cast<std::size_t>(next)];
      next = at_receiver ? senders.edge_at(e.from, b) : receivers.edge_at(e.to, a);
    }
    for (const int e : path) {
      const int old = colour_of[static_cast<std::size_t>(e)];
      senders.edge_at(edges[static_cast<std::size_t>(e)].from, old) = kNone;
      receivers.edge_at(edges[static_cast<std::size_t>(e)].to, old) = kNone;
    }
    for (const int e : path) set_colour(e, colour_of[static_cast<std::size_t>(e)] == a ? b : a);
    set_colour(edge, a);
  }
  return colour_of;
}

}  // namespace hsap
