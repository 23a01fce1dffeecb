// Contention-free rounds: a bipartite multigraph of messages (sender, receiver) is coloured so that in each colour every rank
// sends at most one and receives at most one message. Koenig (1916): as many colours suffice as the busiest rank has messages.
#pragma once

#include <vector>

namespace hsap {

struct MessageEdge {
  int from = 0;
  int to = 0;
};

/// Colour of every edge, counted from 0; uses exactly as many colours as the largest number of edges at one sender or receiver.
/// Edges are coloured in the order given (put like sizes next to each other), each with the lowest colour free at both ends,
/// and by an alternating path where there is none. O(edges x (colours + ranks)) at worst.
std::vector<int> colour_edges(const std::vector<MessageEdge>& edges, int ranks);

}  // namespace hsap
