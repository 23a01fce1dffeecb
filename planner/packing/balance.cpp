#include "planner/packing/balance.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "planner/inputs/batch_rooms.hpp"
#include "planner/ir/errors.hpp"

namespace hsap {

namespace {

/// Nothing is improved further when the costliest bin is above the mean by no more than this.
constexpr double kCloseEnough = 1e-4;
/// Bins, those that cost least, with which the costliest one may exchange items before it is left alone.
constexpr std::size_t kPartners = 16;

/// What changes between two bins: an item moves, and one may come back for it.
struct Change {
  std::size_t given = 0;                  ///< position in the giving bin
  std::optional<std::size_t> taken = {};  ///< position in the other bin
  double away = 0;                        ///< from half of the difference between the bins, where both would cost the same
};

class Balancer {
 public:
  Balancer(const std::vector<BinItem>& items, std::size_t bins, Token most_tokens)
      : items_(items), most_tokens_(most_tokens), by_cost_(items.size()), bins_(bins) {
    std::iota(by_cost_.begin(), by_cost_.end(), std::size_t{0});
    std::stable_sort(by_cost_.begin(), by_cost_.end(),
                     [&](std::size_t a, std::size_t b) { return items_[a].cost > items_[b].cost; });
  }

  std::optional<Bins> run() {
    if (!costliest_first() && !largest_first()) return std::nullopt;
    improve();
    Bins result;
    for (const Bin& bin : bins_) {
      std::vector<std::size_t> members;
      for (const std::size_t place : bin.places) members.push_back(by_cost_[place]);
      std::sort(members.begin(), members.end());
      result.push_back(std::move(members));
    }
    return result;
  }

 private:
  struct Bin {
    double cost = 0;
    Token tokens = 0;
    std::vector<std::size_t> places;  ///< in by_cost_, ascending: costliest first
  };

  const BinItem& item(std::size_t place) const { return items_[by_cost_[place]]; }

  void put(std::size_t place, Bin& bin) {
    bin.cost += item(place).cost;
    bin.tokens += item(place).tokens;
    bin.places.insert(std::upper_bound(bin.places.begin(), bin.places.end(), place), place);
  }

  std::size_t take(std::size_t position, Bin& bin) {
    const std::size_t place = bin.places[position];
    bin.cost -= item(place).cost;
    bin.tokens -= item(place).tokens;
    bin.places.erase(bin.places.begin() + static_cast<std::ptrdiff_t>(position));
    return place;
  }

  bool costliest_first() {
    Token least = most_tokens_;
    for (const BinItem& one : items_) least = std::min(least, one.tokens);
    std::set<std::pair<double, std::size_t>> open;  // bins that can take something, by cost
    for (std::size_t b = 0; b < bins_.size(); ++b) open.emplace(0, b);
    for (std::size_t place = 0; place < by_cost_.size(); ++place) {
      const auto chosen = std::find_if(open.begin(), open.end(), [&](const auto& bin) {
        return bins_[bin.second].tokens + item(place).tokens <= most_tokens_;
      });
      if (chosen == open.end()) return false;
      const std::size_t b = chosen->second;
      open.erase(chosen);
      put(place, bins_[b]);
      if (bins_[b].tokens + least <= most_tokens_) open.emplace(bins_[b].cost, b);
    }
    return true;
  }

  bool largest_first() {
    std::vector<std::size_t> by_tokens(items_.size());
    std::iota(by_tokens.begin(), by_tokens.end(), std::size_t{0});
    std::stable_sort(by_tokens.begin(), by_tokens.end(),
                     [&](std::size_t a, std::size_t b) { return item(a).tokens > item(b).tokens; });
    BatchRooms rooms;
    for (Bin& bin : bins_) {
      bin = {};
      rooms.open(most_tokens_);
    }
    for (const std::size_t place : by_tokens) {
      const std::size_t b = rooms.first_with_room(item(place).tokens);
      if (b == bins_.size()) return false;
      rooms.take(b, item(place).tokens);
      put(place, bins_[b]);
    }
    return true;
  }

  void improve() {
    const std::size_t rounds = 2 * bins_.size() + 32;
    for (std::size_t round = 0; round < rounds; ++round)
      if (!relieve_costliest()) return;
  }

  bool relieve_costliest() {
    double sum = 0;
    for (const Bin& bin : bins_) sum += bin.cost;
    std::vector<std::size_t> order(bins_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return bins_[a].cost < bins_[b].cost; });
    Bin& costliest = bins_[order.back()];
    if (costliest.cost * static_cast<double>(bins_.size()) <= sum * (1 + kCloseEnough)) return false;
    for (std::size_t i = 0; i + 1 < order.size() && i < kPartners; ++i) {
      Bin& other = bins_[order[i]];
      const std::optional<Change> change = best_change(costliest, other);
      if (!change) continue;
      const std::size_t given = take(change->given, costliest);
      if (change->taken) put(take(*change->taken, other), costliest);
      put(given, other);
      return true;
    }
    return false;
  }

  /// The change after which the costlier of the two bins costs least. Both are walked once, costliest items first.
  std::optional<Change> best_change(const Bin& from, const Bin& to) const {
    const double half = (from.cost - to.cost) / 2;
    std::optional<Change> best;
    const auto consider = [&](std::size_t given, std::optional<std::size_t> taken) {
      const BinItem& leaving = item(from.places[given]);
      const BinItem back = taken ? item(to.places[*taken]) : BinItem{};
      const double away = std::abs(leaving.cost - back.cost - half);
      const Token tokens = leaving.tokens - back.tokens;
      if (to.tokens + tokens > most_tokens_ || from.tokens - tokens > most_tokens_) return;
      if (away < (best ? best->away : half * (1 - 1e-9))) best = {given, taken, away};
    };
    std::size_t next = 0;  // the first item of `to` that costs no more than would even out the bins
    for (std::size_t given = 0; given < from.places.size(); ++given) {
      consider(given, std::nullopt);
      const double wanted = item(from.places[given]).cost - half;
      while (next < to.places.size() && item(to.places[next]).cost > wanted) ++next;
      if (next > 0) consider(given, next - 1);
      if (next < to.places.size()) consider(given, next);
    }
    return best;
  }

  const std::vector<BinItem>& items_;
  Token most_tokens_;
  std::vector<std::size_t> by_cost_;
  std::vector<Bin> bins_;
};

}  // namespace

std::optional<Bins> balance(const std::vector<BinItem>& items, std::size_t bins, Token most_tokens) {
  if (bins == 0) throw InvalidInput("balance: found 0 bins, expected at least 1");
  return Balancer(items, bins, most_tokens).run();
}

}  // namespace hsap
