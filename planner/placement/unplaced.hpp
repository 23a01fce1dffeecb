// What the cost-cut placement has not placed yet, document by document, in the order in which bins whose tokens run short want
// it: fillers from the light end, costly tails from the other.
#pragma once

#include <vector>

#include "planner/placement/bin.hpp"

namespace hsap {

/// The rows of a document that are not placed yet: ranges in ascending order, which lie in an array of someone else.
struct Unplaced {
  Piece* first = nullptr;
  Piece* last = nullptr;  ///< one past the end
  double cost = 0;
  Token tokens = 0;
  bool cut = false;  ///< a bin has some of its rows already

  double cost_per_token() const { return cost / static_cast<double>(tokens); }
  /// One more than the last row: the keys that whoever takes all of it needs.
  Token reach() const { return (last - 1)->end; }

  /// Cost of the first `count` rows. @pre 0 <= count <= tokens, tokens > 0
  double head_cost(Token count, const RowCost& rows) const {
    return count <= first->tokens() ? rows.of(first->document, first->begin, first->begin + count)
                                    : long_head_cost(count, rows);
  }
  /// Number of last rows, at most `most`, whose cost is nearest to `cost` when a token is worth `price`.
  Token tail_tokens(double cost, Token most, double price, const RowCost& rows) const;
  /// Cost of the row after the first `count`, and of the first one of the last `count`. @pre 0 <= count < tokens; 0 < count <=
  /// tokens
  double cost_of_row_after_head(Token count, const RowCost& rows) const;
  double cost_of_first_row_of_tail(Token count, const RowCost& rows) const;

  void place_head(Token count, const RowCost& rows, Bin& bin);
  void place_tail(Token count, const RowCost& rows, Bin& bin);
  void place_all(Bin& bin) const {
    for (const Piece* piece = first; piece != last; ++piece) bin.add(*piece);
  }

 private:
  double long_head_cost(Token count, const RowCost& rows) const;
};

/// All that is not placed. Whole documents are sorted by cost per token; those that have been cut are known by their reach.
class Stock {
 public:
  /// @pre pieces are in the order of costlier().
  Stock(const std::vector<Piece>& pieces, const RowCost& rows);

  double cost() const { return cost_; }
  double tokens() const { return tokens_; }

  /// Takes out what reaches farthest. Whatever is not placed of it must be put back or set aside. @pre not empty()
  Unplaced take_farthest();
  bool empty() const { return front_ == back_ && cut_.empty(); }
  /// Gives back the rest of a document of which `cost` and `tokens` have been placed.
  void put_back(const Unplaced& rest);
  /// Rows have been placed.
  void placed(double cost, Token tokens);

  /// The lightest document; null when none is left.
  const Unplaced* lightest() const { return front_ < back_ ? &sorted_[front_] : nullptr; }
  void drop_lightest() { ++front_; }
  /// Puts the first `count` rows of the lightest document into a bin; the rest stays the next one to be taken. @pre 0 < count <
  /// its tokens
  void place_head_of_lightest(Token count, const RowCost& rows, Bin& bin);
  /// Cost per token of the lightest documents that have `tokens` together, the last one in part; infinite when none is left.
  /// O(log n).
  double lightest_cost_per_token(double tokens) const;
  /// Cost per token of all whole documents that cost no more per token than the mean of the stock; the mean when there is none.
  /// O(log n).
  double light_cost_per_token() const;

  /// Everything, in no order. The stock is empty then.
  std::vector<Unplaced> take_all();

 private:
  struct Sums {
    double tokens = 0;
    double cost = 0;
  };

  std::vector<Piece> pieces_;
  std::vector<Unplaced> sorted_;
  std::vector<Sums> below_;           // of sorted_[0, i)
  std::size_t front_ = 0, back_ = 0;  // of sorted_, what is left of it
  std::vector<Unplaced> cut_;         // a heap by reach
  double cost_ = 0;
  double tokens_ = 0;
};

}  // namespace hsap
