#include "planner/placement/balance.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <queue>
#include <utility>

namespace hsap {

namespace {

Piece piece_of(const RowCost& rows, std::size_t document, Token begin, Token end) {
  return {document, begin, end, rows.of(begin, end)};
}

/// Takes the rows [begin, x) of piece `index` out of `bin`.
Piece take_head(Bin& bin, std::size_t index, Token x, const RowCost& rows) {
  const Piece whole = bin.take(index);
  bin.add(piece_of(rows, whole.document, x, whole.end));
  return piece_of(rows, whole.document, whole.begin, x);
}

/// Takes the rows [x, end) of piece `index` out of `bin`.
Piece take_tail(Bin& bin, std::size_t index, Token x, const RowCost& rows) {
  const Piece whole = bin.take(index);
  bin.add(piece_of(rows, whole.document, whole.begin, x));
  return piece_of(rows, whole.document, x, whole.end);
}

/// Indices of the pieces of `bin`, those that cost least per token first.
std::vector<std::size_t> lightest_first(const Bin& bin) {
  std::vector<std::size_t> order(bin.pieces.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const Piece& x = bin.pieces[a];
    const Piece& y = bin.pieces[b];
    return std::make_pair(x.cost_per_token(), std::make_pair(x.document, x.begin)) <
           std::make_pair(y.cost_per_token(), std::make_pair(y.document, y.begin));
  });
  return order;
}

/// Moves at least `least` and at most `most` tokens of the rows that cost least: whole pieces while they fit, then a head.
void move_lightest(Bin& from, Bin& to, Token least, Token most, const RowCost& rows) {
  std::vector<Piece> kept;
  Token moved = 0;
  const std::vector<std::size_t> order = lightest_first(from);
  std::vector<bool> leaves(order.size(), false);
  std::optional<std::size_t> cut;
  for (std::size_t index : order) {
    if (moved >= least) break;
    const Token tokens = from.pieces[index].tokens();
    if (tokens <= most - moved) {
      leaves[index] = true;
      moved += tokens;
    } else if (!cut) {
      cut = index;
    }
  }
  if (moved < least) {
    const Piece& piece = from.pieces[*cut];
    const Token x = piece.begin + least - moved;
    to.add(piece_of(rows, piece.document, piece.begin, x));
    kept.push_back(piece_of(rows, piece.document, x, piece.end));
    leaves[*cut] = false;
  }
  for (std::size_t i = 0; i < from.pieces.size(); ++i)
    if (leaves[i])
      to.add(from.pieces[i]);
    else if (moved >= least || i != *cut)
      kept.push_back(from.pieces[i]);
  from.pieces.clear();
  from.cost = 0;
  from.tokens = 0;
  for (const Piece& piece : kept) from.add(piece);
}

/// What level_costs moves from one bin to another.
struct Move {
  enum class Part { whole, head, tail };
  Part part = Part::whole;
  std::size_t piece = 0;
  Token at = 0;           ///< where the piece is cut
  double net_cost = 0;    ///< what the receiver gains, rows that it gives back deducted
  Token keys_added = 0;   ///< further keys that have to be moved
};

/// Mean cost per token of the cheapest quarter of the bin's tokens: what a token given back is worth.
double price_of_return(const Bin& bin) {
  double cost = 0;
  Token tokens = 0;
  for (std::size_t index : lightest_first(bin)) {
    if (tokens * 4 >= bin.tokens) break;
    cost += bin.pieces[index].cost;
    tokens += bin.pieces[index].tokens();
  }
  return tokens > 0 ? cost / static_cast<double>(tokens) : std::numeric_limits<double>::infinity();
}

class MoveFinder {
 public:
  MoveFinder(const Bin& from, const Bin& to, const RowCost& rows, double wanted)
      : from_(from), rows_(rows), wanted_(wanted), free_tokens_(std::min(to.token_room(), from.tokens - from.least)),
        price_(price_of_return(to)), returnable_(to.tokens) {}

  std::optional<Move> find() {
    for (std::size_t i = 0; i < from_.pieces.size(); ++i) {
      const Piece& piece = from_.pieces[i];
      const double net = net_cost(piece.cost, piece.tokens());
      if (net <= wanted_ * (1 + 1e-9)) {
        if (net > 0 && (!whole_ || net > whole_->net_cost)) whole_ = Move{Move::Part::whole, i, piece.end, net, 0};
      } else {
        try_cuts(i);
      }
    }
    if (whole_ && (!cut_ || whole_->net_cost >= 0.5 * wanted_)) return whole_;
    return cut_;
  }

 private:
  double net_cost(double cost, Token tokens) const {
    const Token returned = std::max<Token>(0, tokens - free_tokens_);
    return returned == 0 ? cost : returned > returnable_ ? -1 : cost - price_ * static_cast<double>(returned);
  }

  void try_cuts(std::size_t index) {
    const Piece& piece = from_.pieces[index];
    Token head = rows_.head_end(piece.begin, piece.end, wanted_);
    Token tail = rows_.tail_begin(piece.begin, piece.end, wanted_);
    if (price_ < std::numeric_limits<double>::infinity()) {
      // tokens beyond free_tokens_ are paid for by rows given back: cost - price (tokens - free) = wanted
      const RowCost traded = rows_.less(price_);
      const double net = wanted_ - price_ * static_cast<double>(free_tokens_);
      if (head - piece.begin > free_tokens_) head = traded.head_end(piece.begin, piece.end, net);
      if (piece.end - tail > free_tokens_) tail = traded.tail_begin(piece.begin, piece.end, net);
    }
    try_cut(index, Move::Part::head, head);
    try_cut(index, Move::Part::tail, tail);
  }

  void try_cut(std::size_t index, Move::Part part, Token x) {
    const Piece& piece = from_.pieces[index];
    if (x <= piece.begin || x >= piece.end) return;
    const Token begin = part == Move::Part::head ? piece.begin : x;
    const Token end = part == Move::Part::head ? x : piece.end;
    const double net = net_cost(rows_.of(begin, end), end - begin);
    if (net < 0.5 * wanted_ || net > 1.5 * wanted_) return;
    const Token keys = rows_.keys_before(x);
    if (!cut_ || keys < cut_->keys_added) cut_ = Move{part, index, x, net, keys};
  }

  const Bin& from_;
  const RowCost& rows_;
  double wanted_;
  Token free_tokens_;
  double price_;
  Token returnable_;
  std::optional<Move> whole_, cut_;
};

void apply(const Move& move, Bin& from, Bin& to, const RowCost& rows) {
  const Piece piece = move.part == Move::Part::whole  ? from.take(move.piece)
                      : move.part == Move::Part::head ? take_head(from, move.piece, move.at, rows)
                                                      : take_tail(from, move.piece, move.at, rows);
  const Token returned = std::max({Token{0}, piece.tokens() - to.token_room(), from.least - from.tokens});
  if (returned > 0) move_lightest(to, from, returned, std::min({piece.tokens(), from.token_room(), returned + returned / 2}), rows);
  to.add(piece);
}

}  // namespace

void meet_token_limits(std::vector<Bin>& bins, const RowCost& rows) {
  using Entry = std::pair<Token, std::size_t>;
  std::priority_queue<Entry> rooms;
  std::priority_queue<Entry> spare;
  for (std::size_t i = 0; i < bins.size(); ++i) {
    if (bins[i].token_room() > 0) rooms.push({bins[i].token_room(), i});
  }
  for (std::size_t i = 0; i < bins.size(); ++i)
    while (bins[i].token_room() < 0) {
      const std::size_t to = rooms.top().second;
      rooms.pop();
      const Token room = bins[to].token_room();
      const Token wanted = std::min(-bins[i].token_room(), room);
      move_lightest(bins[i], bins[to], wanted, std::min({room, bins[i].tokens - bins[i].least, wanted + wanted / 2}), rows);
      if (bins[to].token_room() > 0) rooms.push({bins[to].token_room(), to});
    }
  for (std::size_t i = 0; i < bins.size(); ++i)
    if (bins[i].tokens > bins[i].least) spare.push({bins[i].tokens - bins[i].least, i});
  for (std::size_t i = 0; i < bins.size(); ++i)
    while (bins[i].tokens < bins[i].least) {
      const std::size_t from = spare.top().second;
      spare.pop();
      const Token wanted = std::min(bins[i].least - bins[i].tokens, bins[from].tokens - bins[from].least);
      move_lightest(bins[from], bins[i], wanted, wanted, rows);
      if (bins[from].tokens > bins[from].least) spare.push({bins[from].tokens - bins[from].least, from});
    }
}

void level_costs(std::vector<Bin>& bins, const RowCost& rows, double tolerance) {
  using Entry = std::pair<double, std::size_t>;
  std::priority_queue<Entry> rooms;
  std::vector<Entry> donors;
  for (std::size_t i = 0; i < bins.size(); ++i) {
    if (bins[i].room() > 0) rooms.push({bins[i].room(), i});
    if (bins[i].room() < -tolerance * bins[i].target) donors.push_back({-bins[i].room(), i});
  }
  std::sort(donors.begin(), donors.end(), [](const Entry& a, const Entry& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
  for (const auto& [excess, donor] : donors) {
    Bin& from = bins[donor];
    std::vector<Entry> refused;
    for (std::size_t tries = bins.size() + 64; tries > 0 && !rooms.empty() && from.room() < -tolerance * from.target; --tries) {
      const Entry entry = rooms.top();
      rooms.pop();
      Bin& to = bins[entry.second];
      const std::optional<Move> move = MoveFinder(from, to, rows, std::min(-from.room(), to.room())).find();
      if (!move) {
        refused.push_back(entry);
        continue;
      }
      apply(*move, from, to, rows);
      if (to.room() > 1e-6 * to.target) rooms.push({to.room(), entry.second});
    }
    for (const Entry& entry : refused) rooms.push(entry);
  }
}

}  // namespace hsap
