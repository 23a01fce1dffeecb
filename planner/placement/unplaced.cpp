#include "planner/placement/unplaced.hpp"

#include <algorithm>
#include <boost/sort/pdqsort/pdqsort.hpp>
#include <limits>
#include <utility>

namespace hsap {

namespace {

bool nearer(const Unplaced& a, const Unplaced& b) {
  return a.reach() != b.reach() ? a.reach() < b.reach() : a.first->document > b.first->document;
}

}  // namespace

double Unplaced::head_cost(Token count, const RowCost& rows) const {
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

void Unplaced::place_all(Bin& bin) const {
  for (const Piece* piece = first; piece != last; ++piece) bin.add(*piece);
}

Stock::Stock(std::vector<Piece> pieces) : pieces_(std::move(pieces)) {
  const auto before = [](const Piece& a, const Piece& b) {
    return a.document != b.document ? a.document < b.document : a.begin < b.begin;
  };
  if (!std::is_sorted(pieces_.begin(), pieces_.end(), before)) std::sort(pieces_.begin(), pieces_.end(), before);
  std::vector<Unplaced> documents;
  documents.reserve(pieces_.size());
  for (Piece& piece : pieces_) {
    if (documents.empty() || documents.back().first->document != piece.document) documents.push_back({&piece, &piece, 0, 0});
    Unplaced& document = documents.back();
    document.last = &piece + 1;
    document.cost += piece.cost;
    document.tokens += piece.tokens();
  }
  std::vector<std::pair<double, std::size_t>> order;  // cost per token; of equal ones the last document first
  order.reserve(documents.size());
  for (std::size_t i = 0; i < documents.size(); ++i)
    order.emplace_back(documents[i].cost_per_token(), documents.size() - 1 - i);
  boost::sort::pdqsort_branchless(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return static_cast<bool>((a.first < b.first) | ((a.first == b.first) & (a.second < b.second)));
  });
  sorted_.reserve(documents.size());
  for (const auto& [cost_per_token, place] : order) sorted_.push_back(documents[documents.size() - 1 - place]);
  tokens_below_.reserve(sorted_.size() + 1);
  costs_below_.reserve(sorted_.size() + 1);
  for (const Unplaced& document : sorted_) {
    tokens_below_.push_back(tokens_);
    costs_below_.push_back(cost_);
    tokens_ += static_cast<double>(document.tokens);
    cost_ += document.cost;
  }
  tokens_below_.push_back(tokens_);
  costs_below_.push_back(cost_);
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

double Stock::lightest_cost_per_token(double tokens) const {
  if (front_ == back_) return std::numeric_limits<double>::infinity();
  const double end = std::min(tokens_below_[front_] + std::max(tokens, 1.0), tokens_below_[back_]);
  const auto begin = tokens_below_.begin();
  const auto after =
      std::lower_bound(begin + static_cast<std::ptrdiff_t>(front_) + 1, begin + static_cast<std::ptrdiff_t>(back_), end);
  const auto i = static_cast<std::size_t>(after - begin);
  const double too_many = tokens_below_[i] - end;
  return (costs_below_[i] - too_many * sorted_[i - 1].cost_per_token() - costs_below_[front_]) / (end - tokens_below_[front_]);
}

double Stock::light_cost_per_token() const {
  const double mean = cost_ / tokens_;
  const auto begin = sorted_.begin();
  const auto middle =
      std::partition_point(begin + static_cast<std::ptrdiff_t>(front_), begin + static_cast<std::ptrdiff_t>(back_),
                           [&](const Unplaced& document) { return document.cost_per_token() <= mean; });
  const auto i = static_cast<std::size_t>(middle - begin);
  if (i == front_) return mean;
  return (costs_below_[i] - costs_below_[front_]) / (tokens_below_[i] - tokens_below_[front_]);
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
