#include <algorithm>
#include <queue>
#include <utility>

#include "planner/placement/cost_cut_steps.hpp"

namespace hsap {

namespace {

using Entry = std::pair<Token, std::size_t>;  // tokens, bin

/// Every round fills the receiver or satisfies the giver, so there are at most two rounds per bin.
void bring_below_most(std::vector<Bin>& bins, const RowCost& rows) {
  std::priority_queue<Entry> rooms;
  for (std::size_t i = 0; i < bins.size(); ++i)
    if (bins[i].token_room() > 0) rooms.push({bins[i].token_room(), i});
  for (std::size_t i = 0; i < bins.size(); ++i) {
    Bin& from = bins[i];
    if (from.token_room() >= 0) continue;
    while (from.token_room() < 0) {
      const auto [room, index] = rooms.top();
      rooms.pop();
      Bin& to = bins[index];
      const Token needed = std::min(-from.token_room(), room);
      // a quarter more may move if that spares a cut
      move_cheapest(from, to, needed, std::min({needed + needed / 4, room, from.spare_tokens()}), rows);
      if (to.token_room() > 0) rooms.push({to.token_room(), index});
    }
    if (from.token_room() > 0) rooms.push({from.token_room(), i});
  }
}

void bring_above_least(std::vector<Bin>& bins, const RowCost& rows) {
  std::priority_queue<Entry> spares;
  for (std::size_t i = 0; i < bins.size(); ++i)
    if (bins[i].spare_tokens() > 0) spares.push({bins[i].spare_tokens(), i});
  for (Bin& to : bins)
    while (to.spare_tokens() < 0) {
      const auto [spare, index] = spares.top();
      spares.pop();
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
  bring_below_most(bins, rows);
  bring_above_least(bins, rows);
}

}  // namespace hsap
