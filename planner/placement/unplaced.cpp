#include "planner/placement/unplaced.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace hsap {

namespace {

bool nearer(const Unplaced& a, const Unplaced& b) {
  return a.reach() != b.reach() ? a.reach() < b.reach() : a.first->document > b.first->document;
}

/// By cost per token; of equal ones the last document first.
bool lighter_piece(const Piece& a, const Piece& b) {
  return a.cost_per_token != b.cost_per_token ? a.cost_per_token < b.cost_per_token : a.document > b.document;
}
bool lighter(const Unplaced& a, const Unplaced& b) {
  const double of_a = a.cost_per_token();
  const double of_b = b.cost_per_token();
  return of_a != of_b ? of_a < of_b : a.first->document > b.first->document;
}

}  // namespace

double Unplaced::long_head_cost(Token count, const RowCost& rows) const {
  double sum = 0;
  for (const Piece* piece = first; piece != last && count > 0; ++piece) {
    const Token taken = std::min(count, piece->tokens());
    sum += rows.of(piece->document, piece->begin, piece->begin + taken);
    count -= taken;
  }
  return sum;
}

Token Unplaced::tail_tokens(double wanted, Token most, double price, const RowCost& rows) const {
  const RowCost priced = rows.less(price);
  Token count = 0;
  for (const Piece* piece = last; piece-- != first;) {
    const double worth = piece->cost - price * static_cast<double>(piece->tokens());
    if (worth > wanted || piece->tokens() > most - count) {
      const Token begin = priced.tail_begin(piece->document, piece->begin, piece->end, wanted);
      return count + std::min(piece->end - begin, most - count);
    }
    wanted -= worth;
    count += piece->tokens();
  }
  return count;
}

double Unplaced::cost_of_row_after_head(Token count, const RowCost& rows) const {
  const Piece* piece = first;
  for (; count >= piece->tokens(); ++piece) count -= piece->tokens();
  return rows.of(piece->document, piece->begin + count, piece->begin + count + 1);
}

double Unplaced::cost_of_first_row_of_tail(Token count, const RowCost& rows) const {
  const Piece* piece = last - 1;
  for (; count > piece->tokens(); --piece) count -= piece->tokens();
  return rows.of(piece->document, piece->end - count, piece->end - count + 1);
}

void Unplaced::place_head(Token count, const RowCost& rows, Bin& bin) {
  while (count > 0) {
    const Token taken = std::min(count, first->tokens());
    const Piece head(first->document, first->begin, first->begin + taken, rows);
    bin.add(head);
    cost -= head.cost;
    tokens -= taken;
    count -= taken;
    cut = true;
    if (taken == first->tokens())
      ++first;
    else
      *first = Piece(first->document, first->begin + taken, first->end, rows);
  }
}

void Unplaced::place_tail(Token count, const RowCost& rows, Bin& bin) {
  while (count > 0) {
    Piece& piece = *(last - 1);
    const Token taken = std::min(count, piece.tokens());
    const Piece tail(piece.document, piece.end - taken, piece.end, rows);
    bin.add(tail);
    cost -= tail.cost;
    tokens -= taken;
    count -= taken;
    cut = true;
    if (taken == piece.tokens())
      --last;
    else
      piece = Piece(piece.document, piece.begin, piece.end - taken, rows);
  }
}

Stock::Stock(const std::vector<Piece>& pieces, const RowCost& rows) {
  pieces_.reserve(pieces.size());
  sorted_.reserve(pieces.size());
  std::vector<Piece> cut;
  bool in_order = true;
  std::for_each(pieces.rbegin(), pieces.rend(), [&](const Piece& piece) {
    if (!piece.is_whole(rows)) return cut.push_back(piece);
    // under the causal rule what costs less costs less per token, too
    in_order = in_order && (pieces_.empty() || lighter_piece(pieces_.back(), piece));
    Piece& own = pieces_.emplace_back(piece);
    sorted_.push_back({&own, &own + 1, own.cost, own.tokens()});
  });
  if (!in_order) std::sort(sorted_.begin(), sorted_.end(), lighter);
  std::sort(cut.begin(), cut.end(), earlier);
  const std::size_t whole = pieces_.size();
  pieces_.insert(pieces_.end(), cut.begin(), cut.end());
  for (Piece *first = pieces_.data() + whole, *end = pieces_.data() + pieces_.size(); first != end;) {
    Unplaced document{first, first, 0, 0};
    for (; document.last != end && document.last->document == first->document; ++document.last) {
      document.cost += document.last->cost;
      document.tokens += document.last->tokens();
    }
    sorted_.insert(std::upper_bound(sorted_.begin(), sorted_.end(), document, lighter), document);
    first = document.last;
  }
  below_.reserve(sorted_.size() + 1);
  for (const Unplaced& document : sorted_) {
    below_.push_back({tokens_, cost_});
    tokens_ += static_cast<double>(document.tokens);
    cost_ += document.cost;
  }
  below_.push_back({tokens_, cost_});
  back_ = sorted_.size();
}

Unplaced Stock::take_farthest() {
  if (cut_.empty() || (front_ < back_ && sorted_[back_ - 1].reach() > cut_.front().reach())) return sorted_[--back_];
  std::pop_heap(cut_.begin(), cut_.end(), nearer);
  const Unplaced farthest = cut_.back();
  cut_.pop_back();
  return farthest;
}

void Stock::put_back(const Unplaced& rest) {
  if (rest.tokens == 0) return;
  cut_.push_back(rest);
  std::push_heap(cut_.begin(), cut_.end(), nearer);
}

void Stock::placed(double cost, Token tokens) {
  cost_ -= cost;
  tokens_ -= static_cast<double>(tokens);
}

void Stock::place_head_of_lightest(Token count, const RowCost& rows, Bin& bin) {
  Unplaced& document = sorted_[front_];
  Sums& below = below_[front_];  // what is placed counts as below, so that differences stay right
  below.tokens += static_cast<double>(count);
  below.cost += document.cost;
  document.place_head(count, rows, bin);
  below.cost -= document.cost;
}

double Stock::lightest_cost_per_token(double tokens) const {
  if (front_ == back_) return std::numeric_limits<double>::infinity();
  const Sums& front = below_[front_];
  const double end = std::min(front.tokens + std::max(tokens, 1.0), below_[back_].tokens);
  const auto begin = below_.begin();
  const auto after =
      std::lower_bound(begin + static_cast<std::ptrdiff_t>(front_) + 1, begin + static_cast<std::ptrdiff_t>(back_), end,
                       [](const Sums& below, double wanted) { return below.tokens < wanted; });
  const Unplaced& last = sorted_[static_cast<std::size_t>(after - begin) - 1];
  const double too_many = after->tokens - end;
  return (after->cost - too_many * last.cost_per_token() - front.cost) / (end - front.tokens);
}

double Stock::light_cost_per_token() const {
  const double mean = cost_ / tokens_;
  const auto begin = sorted_.begin();
  const auto middle =
      std::partition_point(begin + static_cast<std::ptrdiff_t>(front_), begin + static_cast<std::ptrdiff_t>(back_),
                           [&](const Unplaced& document) { return document.cost_per_token() <= mean; });
  const auto i = static_cast<std::size_t>(middle - begin);
  if (i == front_) return mean;
  return (below_[i].cost - below_[front_].cost) / (below_[i].tokens - below_[front_].tokens);
}

std::vector<Unplaced> Stock::take_all() {
  std::vector<Unplaced> all = std::move(cut_);
  all.insert(all.end(), sorted_.begin() + static_cast<std::ptrdiff_t>(front_),
             sorted_.begin() + static_cast<std::ptrdiff_t>(back_));
  cut_.clear();
  front_ = back_ = 0;
  return all;
}

}  // namespace hsap
