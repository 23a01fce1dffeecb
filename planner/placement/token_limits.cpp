#include <algorithm>

#include "planner/placement/cost_cut_steps.hpp"
#include "planner/placement/largest_first.hpp"

namespace hsap {

namespace {

/// Tokens that a bin can take below its cap, and with a cost that stays near its target.
Token room_in_tokens(const Bin& bin) { return bin.token_room(); }
Token room_in_both(const Bin& bin) {
  if (bin.room() <= 0 || bin.cost <= 0) return 0;
  return std::min(bin.token_room(), static_cast<Token>(bin.room() * static_cast<double>(bin.tokens) / bin.cost));
}

/// Every round fills the receiver or satisfies the giver, so there are at most two rounds per bin.
void bring_below_most(std::vector<Bin>& bins, const RowCost& rows, Token (*room_of)(const Bin&), LargestFirst<Token>& rooms) {
  rooms.clear();
  for (std::size_t i = 0; i < bins.size(); ++i)
    if (const Token room = room_of(bins[i]); room > 0) rooms.push({room, i});
  for (std::size_t i = 0; i < bins.size(); ++i) {
    Bin& from = bins[i];
    const bool gives = from.token_room() < 0;
    while (from.token_room() < 0 && !rooms.empty()) {
      const auto [room, index] = rooms.pop();
      Bin& to = bins[index];
      const Token needed = std::min(-from.token_room(), room);
      // a quarter more may move if that spares a cut
      move_cheapest(from, to, needed, std::min({needed + needed / 4, room, from.spare_tokens()}), rows);
      if (room_of(to) > 0) rooms.push({room_of(to), index});
    }
    if (gives && room_of(from) > 0) rooms.push({room_of(from), i});
  }
}

void bring_above_least(std::vector<Bin>& bins, const RowCost& rows, LargestFirst<Token>& spares) {
  spares.clear();
  for (std::size_t i = 0; i < bins.size(); ++i)
    if (bins[i].spare_tokens() > 0) spares.push({bins[i].spare_tokens(), i});
  for (Bin& to : bins)
    while (to.spare_tokens() < 0) {
      const auto [spare, index] = spares.pop();
      Bin& from = bins[index];
      const Token needed = std::min(-to.spare_tokens(), spare);
      move_cheapest(from, to, needed, needed, rows);
      if (from.spare_tokens() > 0) spares.push({from.spare_tokens(), index});
    }
}

}  // namespace

bool token_limits_met(const std::vector<Bin>& bins) {
  return std::all_of(bins.begin(), bins.end(), [](const Bin& bin) { return bin.token_room() >= 0 && bin.spare_tokens() >= 0; });
}

void meet_token_limits(std::vector<Bin>& bins, const RowCost& rows) {
  if (token_limits_met(bins)) return;
  for (Bin& bin : bins) bin.sort();
  LargestFirst<Token> heap(bins.size());
  bring_below_most(bins, rows, room_in_both, heap);
  bring_below_most(bins, rows, room_in_tokens, heap);
  bring_above_least(bins, rows, heap);
}

}  // namespace hsap
