#include <algorithm>
#include <cmath>
#include <optional>

#include "planner/placement/cost_cut_steps.hpp"
#include "planner/placement/largest_first.hpp"
#include "planner/placement/unplaced.hpp"

namespace hsap {

namespace {

/// Share of their token caps that bins fill at most while documents are left whole; the rest is for what does not fit exactly.
constexpr double kFull = 0.995;
/// With Fillers::cut, rows of an own head that cost more than this share of the document's last row are not light. From 0.2 to
/// 0.7 the median of keys moved, on packed batches of seven length distributions, cap 1.25, changes by less than 0.4 %.
constexpr double kLightRow = 0.3;
/// With Fillers::cut, a document is cut for no fewer tokens than this share of those of the bin: assumed.
constexpr double kSmallestFiller = 0.02;
/// A document is offered to so many bins with the most room for its cost before the token cap is ignored.
constexpr std::size_t kRefusals = 16;

/// Fills bins one by one around the tails that reach farthest, then spreads what is left.
class CapFiller {
 public:
  CapFiller(const std::vector<Piece>& pieces, const RowCost& rows, double tolerance, const KeyPrice& keys, Fillers fillers,
            std::vector<Bin>& bins)
      : stock_(pieces, rows), rows_(rows), dear_(1 + tolerance), keys_(keys), fillers_(fillers), bins_(bins) {
    for (const Bin& bin : bins) most_ += static_cast<double>(bin.most);
  }

  void run() {
    for (; next_ + 1 < bins_.size(); ++next_) {
      std::optional<Unplaced> farthest = next_too_large();
      if (!farthest) break;
      Bin& bin = bins_[next_];
      fill(bin, *farthest);
      stock_.placed(bin.cost, bin.tokens);
      most_ -= static_cast<double>(bin.most);
    }
    spread_rest();
  }

  /// Whether run() gave a bin a larger own head than Fillers::cut allows.
  bool has_heavy_fillers() const { return has_heavy_fillers_; }

 private:
  /// Tokens of a bin when what is left is spread in proportion to the caps.
  double even_tokens(const Bin& bin) const { return stock_.tokens() * static_cast<double>(bin.most) / most_; }

  /// The document of farthest reach that no bin could take whole beside ordinary fillers, once tokens are even. What is passed
  /// over is set aside for spread_rest(): a document that has been cut may reach far and yet be small.
  std::optional<Unplaced> next_too_large() {
    const Bin& bin = bins_[next_];
    const double light = stock_.light_cost_per_token();
    const double even = even_tokens(bin);
    while (!stock_.empty()) {
      const Unplaced farthest = stock_.take_farthest();
      const auto tokens = static_cast<double>(farthest.tokens);
      if (tokens > even || farthest.cost - light * tokens > dear_ * (bin.target - light * even)) return farthest;
      aside_.push_back(farthest);
      if (!farthest.cut) break;
    }
    return std::nullopt;
  }

  /// Tokens for a bin around `farthest`: as few as possible, since each token less is more room for the tail, but not so few
  /// that the other bins cannot hold the rest.
  Token quota(const Bin& bin, const Unplaced& farthest) const {
    double fewest = 0;
    if (farthest.cost >= bin.target) {
      fewest = static_cast<double>(farthest.tail_tokens(bin.target, bin.most, 0, rows_));
    } else {
      double fillers = 0;
      for (int round = 0; round < 3; ++round) fillers = (bin.target - farthest.cost) / stock_.lightest_cost_per_token(fillers);
      fewest = static_cast<double>(farthest.tokens) + fillers;
    }
    if (keys_.pairs_per_key > 0) fewest = std::max(fewest, std::min(even_tokens(bin), tokens_beside_keys(bin, farthest)));
    const double least = stock_.tokens() - kFull * (most_ - static_cast<double>(bin.most));
    return static_cast<Token>(std::min(std::max(fewest, least), static_cast<double>(bin.most)));
  }

  /// Tokens whose linear work leaves time for the keys that enter with the tail.
  double tokens_beside_keys(const Bin& bin, const Unplaced& farthest) const {
    double tokens = even_tokens(bin);
    for (int round = 0; round < 3; ++round) {
      const double price = stock_.lightest_cost_per_token(tokens);
      if (std::isinf(price)) break;
      const Token tail = farthest.tail_tokens(bin.target - price * tokens, static_cast<Token>(tokens), price, rows_);
      const auto keys = static_cast<double>(farthest.reach() - tail);
      tokens = std::clamp((bin.target - keys_.pairs_per_key * keys) / keys_.pairs_per_token, 0.0, even_tokens(bin));
    }
    return tokens;
  }

  void fill(Bin& bin, Unplaced& farthest) {
    const Token tokens = quota(bin, farthest);
    const auto fillers = static_cast<double>(tokens - farthest.tokens);
    if (fillers >= 0 &&
        farthest.cost + (fillers > 0 ? fillers * stock_.lightest_cost_per_token(fillers) : 0) <= dear_ * bin.target) {
      farthest.place_all(bin);
      place_lightest(bin, tokens, nullptr);
      return;
    }
    place_lightest(bin, tokens - expected_tail(bin, farthest, tokens), &farthest);
    const Token light = light_own_head(bin, farthest);
    const Token head = own_head(bin, farthest, tokens, fillers_ == Fillers::cut ? light : farthest.tokens - 1);
    has_heavy_fillers_ = has_heavy_fillers_ || head > light;
    farthest.place_head(head, rows_, bin);
    if (fillers_ == Fillers::cut) cut_lightest(bin, tokens, farthest);
    const Token room = std::max<Token>(1, bin.token_room());
    farthest.place_tail(std::max<Token>(1, farthest.tail_tokens(bin.room(), room, 0, rows_)), rows_, bin);
    stock_.put_back(farthest);
  }

  /// Tokens of the tail when the lightest fillers bring the bin to `tokens`: cost of tail + price (tokens - tail) = target,
  /// solved by repetition since the price depends on how many fillers there are.
  Token expected_tail(const Bin& bin, const Unplaced& farthest, Token tokens) const {
    Token tail = 0;
    for (int round = 0; round < 4 && tail < tokens; ++round) {
      const Token fillers = std::min(tokens - tail, farthest.tokens);
      const double price = std::min(stock_.lightest_cost_per_token(static_cast<double>(tokens - tail)),
                                    farthest.head_cost(fillers, rows_) / static_cast<double>(fillers));
      const Token next = farthest.tail_tokens(bin.target - price * static_cast<double>(tokens), tokens, price, rows_);
      if (next == tail) break;
      tail = next;
    }
    return tail;
  }

  /// Puts the lightest documents into a bin until it has `tokens`, or until the head of `own`, which is going to have its tail
  /// there and so moves no further keys, is as light.
  void place_lightest(Bin& bin, Token tokens, const Unplaced* own) {
    while (const Unplaced* document = stock_.lightest()) {
      const Token room = tokens - bin.tokens;
      if (room < 1) return;
      if (document->tokens > room) {  // the nearest number of tokens, where the tail does not make up for it
        if (own != nullptr || document->tokens > 2 * room || document->tokens > bin.token_room()) return;
      } else if (own != nullptr) {
        const Token head = std::min(room, own->tokens);
        if (own->head_cost(head, rows_) <= document->cost_per_token() * static_cast<double>(head)) return;
      }
      document->place_all(bin);
      stock_.drop_lightest();
    }
  }

  /// Tokens of the own head, at most `most`, with which the bin has `tokens` once its tail is there, too: head + tail(target -
  /// cost of head) = tokens, by Newton's rule: a row more in the head costs q and drives q / d rows that cost d out of the
  /// tail.
  Token own_head(const Bin& bin, const Unplaced& farthest, Token tokens, Token most) const {
    const double wanted = static_cast<double>(tokens - bin.tokens);
    double head = 0;
    for (int round = 0; round < 6; ++round) {
      const auto count = static_cast<Token>(head);
      const double room = bin.room() - farthest.head_cost(count, rows_);
      const Token tail = farthest.tail_tokens(room, farthest.tokens - count, 0, rows_);
      const double missing = wanted - static_cast<double>(tail) - head;
      if (std::abs(missing) < 1 || tail == 0 || count + tail >= farthest.tokens) break;
      const double q = farthest.cost_of_row_after_head(count, rows_);
      const double d = farthest.cost_of_first_row_of_tail(tail, rows_);
      if (!(d > q)) break;
      head = std::clamp(head + missing / (1 - q / d), 0.0, static_cast<double>(most));
    }
    return static_cast<Token>(head);
  }

  /// The most tokens of an own head whose rows are light and fit into the bin's cost; at least one row is left for the tail.
  /// All rows are light when there is no other document to cut.
  Token light_own_head(const Bin& bin, const Unplaced& farthest) const {
    const double heavy = kLightRow * farthest.cost_of_first_row_of_tail(1, rows_);
    double room = bin.room();
    Token count = 0;
    for (const Piece* piece = farthest.first; piece != farthest.last && room > 0; ++piece) {
      const bool is_heavy = rows_.of(piece->document, piece->begin, piece->begin + 1) > heavy;
      if (is_heavy && stock_.lightest() != nullptr) break;
      count += rows_.head_end(piece->document, piece->begin, piece->end, room) - piece->begin;
      room -= piece->cost;
    }
    return std::min(count, farthest.tokens - 1);
  }

  /// Puts the lightest documents, the last of them in part, into a bin so that it has `tokens` once the tail of `farthest` is
  /// there: fillers + tail(target - price of fillers) = tokens.
  void cut_lightest(Bin& bin, Token tokens, const Unplaced& farthest) {
    while (const Unplaced* document = stock_.lightest()) {
      const Token wanted = tokens - bin.tokens;
      if (wanted < 1 || bin.room() <= 0) return;
      const double price = document->cost_per_token();
      const Token tail = farthest.tail_tokens(bin.room() - price * static_cast<double>(wanted),
                                              std::min(wanted, farthest.tokens), price, rows_);
      const Token fillers = wanted - tail;
      if (static_cast<double>(fillers) < kSmallestFiller * static_cast<double>(tokens)) return;
      if (fillers < document->tokens) return stock_.place_head_of_lightest(fillers, rows_, bin);
      document->place_all(bin);
      stock_.drop_lightest();
    }
  }

  void spread_rest();

  Stock stock_;
  const RowCost& rows_;
  double dear_;
  const KeyPrice& keys_;
  const Fillers fillers_;
  std::vector<Bin>& bins_;
  double most_ = 0;       // of the bins that are not filled yet
  std::size_t next_ = 0;  // the first of them
  std::vector<Unplaced> aside_;
  bool has_heavy_fillers_ = false;
};

/// Documents that cost more per token than the mean go to where most of `excess` is wanted, the others to where most tokens
/// are.
void CapFiller::spread_rest() {
  std::vector<Unplaced> rest = stock_.take_all();
  rest.insert(rest.end(), aside_.begin(), aside_.end());
  if (rest.empty()) return;
  const double mean = stock_.cost() / stock_.tokens();
  const auto light = std::partition(rest.begin(), rest.end(), [&](const Unplaced& u) { return u.cost_per_token() > mean; });
  double light_cost = 0;
  double light_tokens = 0;
  std::for_each(light, rest.end(), [&](const Unplaced& document) {
    light_cost += document.cost;
    light_tokens += static_cast<double>(document.tokens);
  });
  const double price = light_tokens > 0 ? light_cost / light_tokens : mean;
  const auto excess = [&](const Unplaced& u) { return u.cost - price * static_cast<double>(u.tokens); };
  std::sort(rest.begin(), light, [&](const Unplaced& a, const Unplaced& b) {
    return excess(a) != excess(b) ? excess(a) > excess(b) : a.first->document < b.first->document;
  });
  std::sort(light, rest.end(), [](const Unplaced& a, const Unplaced& b) {
    return a.tokens != b.tokens ? a.tokens > b.tokens : a.first->document < b.first->document;
  });

  std::vector<double> tokens(bins_.size());  // wanted
  LargestFirst<double> excesses(bins_.size());
  for (std::size_t i = next_; i < bins_.size(); ++i) {
    tokens[i] = even_tokens(bins_[i]);
    excesses.push({bins_[i].target - price * tokens[i], i});
  }
  std::vector<LargestFirst<double>::Entry> refused;
  for (auto document = rest.begin(); document != light; ++document) {
    const auto count = static_cast<double>(document->tokens);
    refused.clear();
    while (!excesses.empty() && refused.size() < kRefusals && tokens[excesses.top().bin] < count)
      refused.push_back(excesses.pop());
    if (excesses.empty() || refused.size() == kRefusals) {
      excesses.push(refused.front());
      refused.erase(refused.begin());
    }
    const auto [most, taker] = excesses.top();
    document->place_all(bins_[taker]);
    tokens[taker] -= count;
    excesses.replace_top({most - excess(*document), taker});
    for (const auto& entry : refused) excesses.push(entry);
  }
  LargestFirst<double>& rooms = excesses;
  rooms.clear();
  for (std::size_t i = next_; i < bins_.size(); ++i) rooms.push({tokens[i], i});
  for (auto document = light; document != rest.end(); ++document) {
    const auto [room, taker] = rooms.top();
    document->place_all(bins_[taker]);
    rooms.replace_top({room - static_cast<double>(document->tokens), taker});
  }
}

}  // namespace

bool spread_under_caps(const std::vector<Piece>& pieces, const RowCost& rows, double tolerance, const KeyPrice& keys,
                       Fillers fillers, std::vector<Bin>& bins) {
  CapFiller filler(pieces, rows, tolerance, keys, fillers, bins);
  filler.run();
  return filler.has_heavy_fillers();
}

}  // namespace hsap
