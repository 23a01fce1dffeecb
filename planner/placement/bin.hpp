// What the cost-cut placement fills: bins (a node of groups, or one group) with pieces of documents.
#pragma once

#include <cstddef>
#include <vector>

#include "planner/ir/ids.hpp"
#include "planner/placement/row_cost.hpp"

namespace hsap {

/// Rows begin .. end-1 of a document, counted from its start, and what they cost.
struct Piece {
  std::size_t document = 0;
  Token begin = 0;
  Token end = 0;
  double cost = 0;
  double cost_per_token = 0;  // bins are ordered by it

  Piece() = default;
  Piece(std::size_t of_document, Token from, Token to, const RowCost& rows)
      : document(of_document),
        begin(from),
        end(to),
        cost(rows.of(of_document, from, to)),
        cost_per_token(to > from ? cost / static_cast<double>(to - from) : 0) {}
  Token tokens() const { return end - begin; }
  /// Whether it is all rows of its document.
  bool is_whole(const RowCost& rows) const { return tokens() == rows.length(document); }
};

/// Costliest first; of equal ones the first document, of one document the first rows.
inline bool costlier(const Piece& a, const Piece& b) {
  if (a.cost != b.cost) return a.cost > b.cost;
  return a.document != b.document ? a.document < b.document : a.begin < b.begin;
}
/// By their places in the batch.
inline bool earlier(const Piece& a, const Piece& b) {
  return a.document != b.document ? a.document < b.document : a.begin < b.begin;
}

/// Groups that are filled as one. Wanted: cost near `target`. Promised once all steps are done: least <= tokens <= most.
struct Bin {
  int groups = 1;
  double target = 0;
  Token least = 0;
  Token most = 0;

  std::vector<Piece> pieces;
  double cost = 0;
  Token tokens = 0;
  bool is_sorted = true;  // pieces are known to be in the order of sort()

  double room() const { return target - cost; }
  Token token_room() const { return most - tokens; }
  Token spare_tokens() const { return tokens - least; }

  /// `ranges`: memory to work with.
  TokenSet token_set(const DocumentMask& mask, std::vector<TokenRange>& ranges) const;

  /// Takes out all pieces.
  void clear() {
    pieces.clear();
    cost = 0;
    tokens = 0;
    is_sorted = true;
  }
  /// Adds a piece at the end.
  void add(const Piece& piece) {
    pieces.push_back(piece);
    cost += piece.cost;
    tokens += piece.tokens();
    is_sorted = false;
  }
  /// Brings the pieces into order: those whose rows cost least on average first. Under the causal rule these are the ones
  /// nearest to the start of their document.
  void sort();
  /// Adds a piece where the order wants it.
  void insert(const Piece& piece);
  /// Takes a piece out; the others keep their order.
  Piece take(std::size_t index);
  /// Gives a piece other rows of its document. The order may be lost, and the piece may be left with no rows.
  void resize(std::size_t index, Token begin, Token end, const RowCost& rows);
};

/// Moves at least `least` and at most `most` tokens of the rows of `from` that cost least: whole pieces while they fit, then
/// the head of one. @pre both bins are sorted, 0 <= least <= most, least <= from.tokens.
void move_cheapest(Bin& from, Bin& to, Token least, Token most, const RowCost& rows);

}  // namespace hsap
