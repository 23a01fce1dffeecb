#include <algorithm>
#include <optional>

#include "planner/placement/cost_cut_steps.hpp"
#include "planner/placement/largest_first.hpp"

namespace hsap {

namespace {

/// Donors are visited again while that helps, since a receiver may end above its target by a row or by what it could not give
/// back.
constexpr int kPasses = 4;
/// A donor gives up after so many receivers that can take nothing from it.
constexpr std::size_t kRefusals = 16;

/// Tokens that may move where `needed` must, if that spares a cut.
Token with_slack(Token needed) { return needed + needed / 4; }

/// What a receiver loses by giving back its cheapest tokens.
class Returns {
 public:
  struct Sums {
    Token tokens = 0;
    double cost = 0;
  };

  /// `memory`: to work with.
  Returns(const Bin& bin, const RowCost& rows, std::vector<Sums>& memory) : bin_(bin), rows_(rows), sums_(memory) {
    sums_.clear();
  }

  Token tokens() const { return bin_.tokens; }

  /// Cost of what move_cheapest(bin, ..., least, most) would take. @pre 0 < least <= tokens()
  double cost(Token least, Token most) {
    if (sums_.empty()) add_up();
    // often the same piece as the last time
    if (least <= sums_[found_ - 1].tokens || least > sums_[found_].tokens)
      found_ = static_cast<std::size_t>(std::lower_bound(sums_.begin() + 1, sums_.end(), least, fewer_tokens) - sums_.begin());
    if (sums_[found_].tokens <= most) return sums_[found_].cost;
    const Sums& before = sums_[found_ - 1];
    const Piece& piece = bin_.pieces[found_ - 1];
    return before.cost + rows_.of(piece.document, piece.begin, piece.begin + least - before.tokens);
  }

 private:
  static bool fewer_tokens(const Sums& sums, Token tokens) { return sums.tokens < tokens; }
  /// Not before somebody asks: many receivers have room enough.
  void add_up() {
    Sums sums;
    sums_.push_back(sums);
    for (const Piece& piece : bin_.pieces) {
      sums.tokens += piece.tokens();
      sums.cost += piece.cost;
      sums_.push_back(sums);
    }
  }

  const Bin& bin_;
  const RowCost& rows_;
  std::vector<Sums>& sums_;  // of pieces 0 .. i-1
  std::size_t found_ = 1;    // the last answer: of `least` tokens the last lies in piece found_ - 1
};

struct Move {
  enum class Part { whole, head, tail };
  Part part = Part::whole;
  std::size_t index = 0;  // of the piece
  Token cut = 0;
  double gain = 0;  // of the receiver, what it gives back deducted
  Token keys = 0;   // further keys that have to be moved
};

/// Finds what to move from one bin to another so that the receiver gains about `wanted`.
class MoveFinder {
 public:
  MoveFinder(const Bin& from, const Bin& to, const RowCost& rows, std::vector<Returns::Sums>& memory)
      : from_(from),
        to_(to),
        rows_(rows),
        returns_(to, rows, memory),
        wanted_(std::min(-from.room(), to.room())),
        most_(std::max(1.5 * wanted_, 0.75 * (to.room() - from.room()))),
        free_tokens_(std::min(to.token_room(), from.spare_tokens())),
        further_tokens_(std::min(from.token_room(), to.spare_tokens())) {}

  std::optional<Move> find() {
    for (std::size_t i = 0; i < from_.pieces.size(); ++i) {
      const Piece& piece = from_.pieces[i];
      if (whole_ && piece.cost <= whole_->gain) continue;
      const double gain = gain_of(piece.tokens(), piece.cost);
      if (gain > 0 && gain <= wanted_ * (1 + 1e-9) && (!whole_ || gain > whole_->gain))
        whole_ = Move{Move::Part::whole, i, 0, gain, 0};
    }
    if (whole_ && whole_->gain >= 0.5 * wanted_) return whole_;
    for (std::size_t i = 0; i < from_.pieces.size(); ++i)
      if (from_.pieces[i].cost > wanted_) try_cuts(i);
    return cut_ ? cut_ : whole_;
  }

 private:
  Token returned(Token moved) const { return std::max<Token>(0, moved - free_tokens_); }

  /// What the receiver gains by rows; nothing if it would have to give back more than it has.
  double gain_of(Token tokens, double cost) {
    const Token least = returned(tokens);
    if (least == 0) return cost;
    if (least > returns_.tokens()) return 0;
    return cost - returns_.cost(least, std::min(with_slack(least), tokens + further_tokens_));
  }

  void try_cuts(std::size_t index) {
    const Piece& piece = from_.pieces[index];
    const Token earliest = rows_.head_end(piece.document, piece.begin, piece.end, wanted_);
    if (cut_ && rows_.keys_across(piece.document, earliest) >= cut_->keys) return;
    if (piece.tokens() < 2) return;
    // A head that costs `wanted` ends before a tail of that cost begins, unless the piece is small: it is the cheaper cut.
    if (try_cut(index, Move::Part::head, earliest) && piece.cost >= 2 * wanted_) return;
    try_cut(index, Move::Part::tail, rows_.tail_begin(piece.document, piece.begin, piece.end, wanted_));
  }

  /// `first_guess`: the cut when tokens cost nothing.
  bool try_cut(std::size_t index, Move::Part part, Token first_guess) {
    const Piece& piece = from_.pieces[index];
    const Token cut = std::clamp(place_of_cut(piece, part, first_guess), piece.begin + 1, piece.end - 1);
    const bool head = part == Move::Part::head;
    const Token begin = head ? piece.begin : cut;
    const Token end = head ? cut : piece.end;
    const double gain = gain_of(end - begin, rows_.of(piece.document, begin, end));
    if (gain < 0.5 * wanted_ || gain > most_) return false;
    const Token keys = rows_.keys_across(piece.document, cut);
    if (!cut_ || keys < cut_->keys) cut_ = Move{part, index, cut, gain, keys};
    return true;
  }

  /// Where to cut so that the receiver gains what is wanted: cost - price (tokens - free) = wanted, as tokens beyond the free
  /// ones are paid for with as many cheap ones. The price depends on the tokens, so this is solved by repetition.
  Token place_of_cut(const Piece& piece, Move::Part part, Token first_guess) {
    const bool head = part == Move::Part::head;
    Token cut = first_guess;
    for (int round = 0; round < 3; ++round) {
      const Token back = returned(head ? cut - piece.begin : piece.end - cut);
      if (back == 0 || back > returns_.tokens()) break;
      const double price = returns_.cost(back, back) / static_cast<double>(back);
      const double cost = wanted_ - price * static_cast<double>(free_tokens_);
      const RowCost rows = rows_.less(price);
      const Token next = head ? rows.head_end(piece.document, piece.begin, piece.end, cost)
                              : rows.tail_begin(piece.document, piece.begin, piece.end, cost);
      if (next == cut) break;
      cut = next;
    }
    return cut;
  }

  const Bin& from_;
  const Bin& to_;
  const RowCost& rows_;
  Returns returns_;
  double wanted_;
  double most_;           // gain that still leaves the worse of both nearer to its target: rows may cost more than is wanted
  Token free_tokens_;     // that may change sides for nothing
  Token further_tokens_;  // that may come back beyond those that are moved
  std::optional<Move> whole_, cut_;
};

void apply(const Move& move, Bin& from, Bin& to, const RowCost& rows) {
  Piece piece = from.take(move.index);
  if (move.part == Move::Part::head) {
    from.insert({piece.document, move.cut, piece.end, rows});
    piece = Piece(piece.document, piece.begin, move.cut, rows);
  } else if (move.part == Move::Part::tail) {
    from.insert({piece.document, piece.begin, move.cut, rows});
    piece = Piece(piece.document, move.cut, piece.end, rows);
  }
  const Token least = std::max({Token{0}, piece.tokens() - to.token_room(), -from.spare_tokens()});
  move_cheapest(to, from, least, std::min({with_slack(least), from.token_room(), piece.tokens() + to.spare_tokens()}), rows);
  to.insert(piece);
}

class Leveller {
 public:
  Leveller(std::vector<Bin>& bins, const RowCost& rows, double tolerance)
      : bins_(bins), rows_(rows), tolerance_(tolerance), rooms_(bins.size()), donors_(bins.size()) {}

  /// One visit to every bin above its target. Returns whether anything moved.
  bool level_once() {
    rooms_.clear();
    for (std::size_t i = 0; i < bins_.size(); ++i) {
      const double room = bins_[i].room();
      if (room > 0) rooms_.push({room, i});
      if (is_donor(bins_[i])) donors_.push({-room, i});
    }
    bool moved = false;
    while (!donors_.empty()) moved |= relieve(bins_[donors_.pop().bin]);
    return moved;
  }

 private:
  bool is_donor(const Bin& bin) const { return bin.room() < -tolerance_ * bin.target; }

  /// Returns whether the donor could give anything.
  bool relieve(Bin& from) {
    bool moved = false;
    from.sort();
    refused_.clear();
    while (is_donor(from) && !rooms_.empty() && refused_.size() < kRefusals) {
      const auto entry = rooms_.pop();
      Bin& to = bins_[entry.bin];
      to.sort();
      const std::optional<Move> move = MoveFinder(from, to, rows_, sums_).find();
      if (!move) {
        refused_.push_back(entry);
        continue;
      }
      apply(*move, from, to, rows_);
      moved = true;
      if (to.room() > 0.01 * tolerance_ * to.target) rooms_.push({to.room(), entry.bin});
    }
    for (const auto& entry : refused_) rooms_.push(entry);
    return moved;
  }

  std::vector<Bin>& bins_;
  const RowCost& rows_;
  const double tolerance_;
  LargestFirst<double> rooms_, donors_;  // by excess
  std::vector<LargestFirst<double>::Entry> refused_;
  std::vector<Returns::Sums> sums_;  // memory for MoveFinder
};

}  // namespace

void level_costs(std::vector<Bin>& bins, const RowCost& rows, double tolerance) {
  if (std::none_of(bins.begin(), bins.end(), [&](const Bin& bin) { return bin.room() < -tolerance * bin.target; })) return;
  Leveller leveller(bins, rows, tolerance);
  for (int pass = 0; pass < kPasses; ++pass)
    if (!leveller.level_once()) return;
}

}  // namespace hsap
