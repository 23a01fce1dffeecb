#include "planner/placement/balance.hpp"

#include <algorithm>
#include <optional>
#include <queue>
#include <utility>

namespace hsap {
static double env(const char* n, double d) { return getenv(n) ? atof(getenv(n)) : d; }
static const double kChain=env("CHAIN",0.05);
namespace {

Piece piece_of(const RowCost& rows, std::size_t document, Token begin, Token end) {
  return {document, begin, end, rows.of(begin, end)};
}

bool lighter(const Piece& a, const Piece& b) {
  return std::make_pair(a.cost_per_token(), std::make_pair(a.document, a.begin)) <
         std::make_pair(b.cost_per_token(), std::make_pair(b.document, b.begin));
}

/// In this file the pieces of a bin are kept in the order of `lighter`.
void insert(Bin& bin, const Piece& piece) {
  bin.cost += piece.cost;
  bin.tokens += piece.tokens();
  bin.pieces.insert(std::upper_bound(bin.pieces.begin(), bin.pieces.end(), piece, lighter), piece);
}

/// The cheapest tokens of a bin: whole pieces, and the head of the next one.
struct Cheapest {
  std::size_t pieces = 0;
  Token head = 0;
};
Cheapest cheapest(const Bin& bin, Token least, Token most) {
  Cheapest result;
  Token moved = 0;
  for (const Piece& piece : bin.pieces) {
    if (moved >= least) break;
    if (moved + piece.tokens() > most) {
      result.head = least - moved;
      break;
    }
    moved += piece.tokens();
    ++result.pieces;
  }
  return result;
}

/// Moves at least `least` and at most `most` tokens of the rows that cost least: whole pieces while they fit, then a head.
void move_cheapest(Bin& from, Bin& to, Token least, Token most, const RowCost& rows) {
  const Cheapest part = cheapest(from, least, most);
  for (std::size_t i = 0; i < part.pieces; ++i) insert(to, from.pieces[i]);
  std::optional<Piece> rest;
  if (part.head > 0) {
    const Piece& piece = from.pieces[part.pieces];
    insert(to, piece_of(rows, piece.document, piece.begin, piece.begin + part.head));
    rest = piece_of(rows, piece.document, piece.begin + part.head, piece.end);
  }
  for (std::size_t i = 0; i < part.pieces + (rest ? 1 : 0); ++i) {
    from.cost -= from.pieces[i].cost;
    from.tokens -= from.pieces[i].tokens();
  }
  from.pieces.erase(from.pieces.begin(), from.pieces.begin() + static_cast<std::ptrdiff_t>(part.pieces + (rest ? 1 : 0)));
  if (rest) insert(from, *rest);
}

/// How many tokens may move where `n` have to, so that fewer documents are cut.
Token at_most(Token n) { return n + n / 4; }

/// Most tokens that `to` may give back for `moved` tokens from `from`, where it has to give `returned`.
Token most_returned(const Bin& from, const Bin& to, Token moved, Token returned) {
  return std::min({at_most(returned), moved + from.token_room(), moved + to.tokens - to.least});
}

/// What level_costs moves from one bin to another.
struct Move {
  enum class Part { whole, head, tail };
  Part part = Part::whole;
  std::size_t piece = 0;
  Token at = 0;          ///< where the piece is cut
  double net_cost = 0;   ///< what the receiver gains, rows that it gives back deducted
  Token keys_added = 0;  ///< further keys that have to be moved
};

/// What a bin would lose by giving back its cheapest n tokens.
class Returns {
 public:
  Returns(const Bin& bin, const RowCost& rows) : bin_(bin), rows_(rows) {
    for (const Piece& piece : bin.pieces) {
      tokens_.push_back((tokens_.empty() ? 0 : tokens_.back()) + piece.tokens());
      costs_.push_back((costs_.empty() ? 0 : costs_.back()) + piece.cost);
    }
  }
  Token tokens() const { return bin_.tokens; }
  double cost(Token n, Token most) const {
    const auto i = static_cast<std::size_t>(std::lower_bound(tokens_.begin(), tokens_.end(), n) - tokens_.begin());
    if (tokens_[i] <= most) return costs_[i];
    const Token begin = bin_.pieces[i].begin;
    return i == 0 ? rows_.of(begin, begin + n) : costs_[i - 1] + rows_.of(begin, begin + n - tokens_[i - 1]);
  }

 private:
  const Bin& bin_;
  const RowCost& rows_;
  std::vector<Token> tokens_;
  std::vector<double> costs_;
};

class MoveFinder {
 public:
  MoveFinder(const Bin& from, const Bin& to, const RowCost& rows, double wanted)
      : from_(from), to_(to), rows_(rows), wanted_(wanted), free_tokens_(std::min(to.token_room(), from.tokens - from.least)),
        returns_(to, rows) {}

  std::optional<Move> find() {
    for (std::size_t i = 0; i < from_.pieces.size(); ++i) {
      const Piece& piece = from_.pieces[i];
      const double net = net_cost(piece.cost, piece.tokens());
      if (net > 0 && net <= wanted_ * (1 + 1e-9) && (!whole_ || net > whole_->net_cost))
        whole_ = Move{Move::Part::whole, i, piece.end, net, 0};
      if (piece.cost > wanted_) try_cuts(i);
    }
    if (whole_ && (!cut_ || whole_->net_cost >= 0.5 * wanted_)) return whole_;
    return cut_;
  }

 private:
  double net_cost(double cost, Token tokens) const {
    const Token returned = std::max<Token>(0, tokens - free_tokens_);
    return returned <= 0 ? cost : returned > returns_.tokens() ? -1 : cost - returns_.cost(returned, most_returned(from_, to_, tokens, returned));
  }

  void try_cuts(std::size_t index) {
    const Piece& piece = from_.pieces[index];
    if (cut_ && rows_.keys_before(rows_.head_end(piece.begin, piece.end, wanted_)) >= cut_->keys_added) return;
    // The head ends before the tail begins unless the piece is small, so it is the cheaper cut.
    if (!try_cut(index, Move::Part::head) || piece.cost < 2 * wanted_) try_cut(index, Move::Part::tail);
  }

  /// Where `part` of a piece must be cut so that the receiver gains what is wanted: rows beyond free_tokens_ are paid for by rows
  /// given back, so cost - price (tokens - free_tokens_) = wanted, where the price depends on the tokens.
  Token place_of_cut(const Piece& piece, Move::Part part) const {
    const bool head = part == Move::Part::head;
    Token x = head ? rows_.head_end(piece.begin, piece.end, wanted_) : rows_.tail_begin(piece.begin, piece.end, wanted_);
    for (int round = 0; round < 3; ++round) {
      const Token returned = (head ? x - piece.begin : piece.end - x) - free_tokens_;
      if (returned <= 0 || returned > returns_.tokens()) break;
      const double price = returns_.cost(returned, returned) / static_cast<double>(returned);
      const double cost = wanted_ - price * static_cast<double>(free_tokens_);
      const RowCost traded = rows_.less(price);
      x = head ? traded.head_end(piece.begin, piece.end, cost) : traded.tail_begin(piece.begin, piece.end, cost);
    }
    return x;
  }

  bool try_cut(std::size_t index, Move::Part part) {
    const Piece& piece = from_.pieces[index];
    const Token x = place_of_cut(piece, part);
    if (x <= piece.begin || x >= piece.end) return false;
    const Token begin = part == Move::Part::head ? piece.begin : x;
    const Token end = part == Move::Part::head ? x : piece.end;
    const double net = net_cost(rows_.of(begin, end), end - begin);
    if (net < 0.5 * wanted_ || net > 1.5 * wanted_) return false;
    const Token keys = rows_.keys_before(x);
    if (!cut_ || keys < cut_->keys_added) cut_ = Move{part, index, x, net, keys};
    return true;
  }

  const Bin& from_;
  const Bin& to_;
  const RowCost& rows_;
  double wanted_;
  Token free_tokens_;
  Returns returns_;
  std::optional<Move> whole_, cut_;
};

void apply(const Move& move, Bin& from, Bin& to, const RowCost& rows) {
  Piece piece = from.take(move.piece);
  if (move.part == Move::Part::head) {
    insert(from, piece_of(rows, piece.document, move.at, piece.end));
    piece = piece_of(rows, piece.document, piece.begin, move.at);
  } else if (move.part == Move::Part::tail) {
    insert(from, piece_of(rows, piece.document, piece.begin, move.at));
    piece = piece_of(rows, piece.document, move.at, piece.end);
  }
  const Token returned = std::max({Token{0}, piece.tokens() - to.token_room(), from.least - from.tokens});
  if (returned > 0) {
    const Token most = std::min({at_most(returned), from.token_room(), piece.tokens() + to.tokens - to.least});
    move_cheapest(to, from, returned, most, rows);
  }
  insert(to, piece);
}

bool level_once(std::vector<Bin>& bins, const RowCost& rows, double tolerance) {
  using Entry = std::pair<double, std::size_t>;
  bool moved = false;
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
    while (refused.size() < 16 && !rooms.empty() && from.room() < -tolerance * from.target) {
      const Entry entry = rooms.top();
      rooms.pop();
      Bin& to = bins[entry.second];
      const std::optional<Move> move = MoveFinder(from, to, rows, std::min(-from.room(), to.room())).find();
      if (!move) {
        refused.push_back(entry);
        continue;
      }
      apply(*move, from, to, rows);
      moved = true;
      if (to.room() > 1e-6 * to.target) rooms.push({to.room(), entry.second});
    }
    for (const Entry& entry : refused) rooms.push(entry);
  }
  return moved;
}

void sort_pieces(std::vector<Bin>& bins) {
  for (Bin& bin : bins) std::sort(bin.pieces.begin(), bin.pieces.end(), lighter);
}

}  // namespace

void meet_token_limits(std::vector<Bin>& bins, const RowCost& rows) {
  sort_pieces(bins);
  using Entry = std::pair<Token, std::size_t>;
  std::priority_queue<Entry> rooms;
  std::priority_queue<Entry> spare;
  static const bool byend = getenv("BYEND");
  auto key = [](const Bin& b) -> Token { if (!byend) return b.token_room(); Token e = 0; for (auto& p : b.pieces) if (p.cost > 0.2*b.target) e = std::max(e, p.end); return -e; };
  for (std::size_t i = 0; i < bins.size(); ++i) {
    if (bins[i].token_room() > 0) rooms.push({key(bins[i]), i});
  }
  for (std::size_t i = 0; i < bins.size(); ++i) {
    if (bins[i].token_room() >= 0) continue;
    while (bins[i].token_room() < 0) {
      const std::size_t to = rooms.top().second;
      rooms.pop();
      const Token room = bins[to].token_room();
      const Token wanted = std::min(-bins[i].token_room(), room);
      move_cheapest(bins[i], bins[to], wanted, std::min({room, bins[i].tokens - bins[i].least, at_most(wanted)}), rows);
      if (bins[to].token_room() > 0) rooms.push({key(bins[to]), to});
    }
    if (bins[i].token_room() > 0) rooms.push({key(bins[i]), i});
  }
  for (std::size_t i = 0; i < bins.size(); ++i)
    if (bins[i].tokens > bins[i].least) spare.push({bins[i].tokens - bins[i].least, i});
  for (std::size_t i = 0; i < bins.size(); ++i)
    while (bins[i].tokens < bins[i].least) {
      const std::size_t from = spare.top().second;
      spare.pop();
      const Token wanted = std::min(bins[i].least - bins[i].tokens, bins[from].tokens - bins[from].least);
      move_cheapest(bins[from], bins[i], wanted, wanted, rows);
      if (bins[from].tokens > bins[from].least) spare.push({bins[from].tokens - bins[from].least, from});
    }
}

void recut_chains(std::vector<Bin>& bins, const RowCost& rows) {
  struct Link {
    std::size_t document;
    Token end;
    std::size_t bin;
    std::size_t piece;
  };
  std::vector<Link> links;
  for (std::size_t i = 0; i < bins.size(); ++i)
    for (std::size_t k = 0; k < bins[i].pieces.size(); ++k) links.push_back({bins[i].pieces[k].document, bins[i].pieces[k].end, i, k});
  std::sort(links.begin(), links.end(), [](const Link& a, const Link& b) { return std::make_pair(a.document, -a.end) < std::make_pair(b.document, -b.end); });
  for (std::size_t i = 0; i < links.size();) {
    std::size_t last = i;
    auto piece = [&](std::size_t j) -> Piece& { return bins[links[j].bin].pieces[links[j].piece]; };
    auto heavy = [&](std::size_t j) { return piece(j).cost > kChain * bins[links[j].bin].target; };
    while (last + 1 < links.size() && links[last + 1].document == links[i].document && piece(last + 1).end == piece(last).begin && heavy(last) &&
           heavy(last + 1))
      ++last;
    const Token floor = piece(last).begin;
    Token end = piece(i).end;
    for (std::size_t j = i; j <= last && last > i; ++j) {
      Piece& p = piece(j);
      Bin& bin = bins[links[j].bin];
      Token begin = floor;
      if (j < last) {
        begin = rows.tail_begin(floor, end, bin.room() + p.cost);
        begin = std::max(begin, end - std::max<Token>(0, bin.token_room() + p.tokens()));
        if (bin.room() + p.cost <= 0) begin = end;
      }
      bin.cost -= p.cost;
      bin.tokens -= p.tokens();
      p = piece_of(rows, p.document, begin, end);
      bin.cost += p.cost;
      bin.tokens += p.tokens();
      end = begin;
    }
    i = last + 1;
  }
  for (Bin& bin : bins) std::erase_if(bin.pieces, [](const Piece& p) { return p.tokens() == 0; });
  sort_pieces(bins);
}

void level_costs(std::vector<Bin>& bins, const RowCost& rows, double tolerance) {
  sort_pieces(bins);
  for (int pass = 0; pass < 4; ++pass)
    if (!level_once(bins, rows, tolerance)) return;
}

}  // namespace hsap
