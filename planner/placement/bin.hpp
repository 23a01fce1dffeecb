// What the cost-cut placement fills: bins (a node of groups, or one group) with pieces of documents.
#pragma once

#include <cstddef>
#include <vector>

#include "planner/ir/ids.hpp"

namespace hsap {

/// Rows begin .. end-1 of a document, counted from its start, and what they cost (RowCost).
struct Piece {
  std::size_t document = 0;
  Token begin = 0;
  Token end = 0;
  double cost = 0;

  Token tokens() const { return end - begin; }
  double cost_per_token() const { return cost / static_cast<double>(tokens()); }
};

/// Groups that are filled as one. Wanted: cost near `target`. Promised by whoever hands a bin on: least <= tokens <= most.
struct Bin {
  int groups = 1;
  double target = 0;
  Token least = 0;
  Token most = 0;

  std::vector<Piece> pieces;
  double cost = 0;
  Token tokens = 0;

  double room() const { return target - cost; }
  Token token_room() const { return most - tokens; }

  void add(const Piece& piece) {
    pieces.push_back(piece);
    cost += piece.cost;
    tokens += piece.tokens();
  }
  /// Takes a piece out; the others keep their order.
  Piece take(std::size_t index) {
    const Piece piece = pieces[index];
    pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(index));
    cost -= piece.cost;
    tokens -= piece.tokens();
    return piece;
  }
};

}  // namespace hsap
