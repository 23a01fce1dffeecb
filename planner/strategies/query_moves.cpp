#include "planner/strategies/query_moves.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace hsap {

std::function<Moving(int query_group, int key_group)> balancing_moves(const Problem& problem,
                                                                      const std::vector<TokenSet>& groups,
                                                                      const GroupHeads& heads, const ExchangeRules& rules,
                                                                      double tolerance) {
  const TokenSet all{{0, problem.mask.tokens()}};
  std::vector<double> pairs;  // worked out on each group
  for (const TokenSet& tokens : groups) pairs.push_back(static_cast<double>(problem.mask.pairs(tokens, all)));
  const double most = static_cast<double>(problem.mask.pairs()) / static_cast<double>(groups.size()) * (1 + tolerance);

  const double kv_bytes = bytes_of_moving_kv(problem.shape, heads, rules);
  const double q_bytes = bytes_of_moving_q(problem.shape, heads, rules);
  struct Candidate {
    std::size_t queries, keys;  // groups
    double pairs, saving;
  };
  std::vector<Candidate> candidates;
  for_each_need(problem.mask, groups, [&](const Need& need) {
    const TokenSet queries = queries_of(need, problem.mask, groups);
    candidates.push_back({static_cast<std::size_t>(need.query_group), static_cast<std::size_t>(need.key_group),
                          static_cast<double>(problem.mask.pairs(queries, need.keys)),
                          kv_bytes * static_cast<double>(need.keys.size()) - q_bytes * static_cast<double>(queries.size())});
  });
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.saving > b.saving; });
  std::set<std::pair<int, int>> moved;
  for (const Candidate& candidate : candidates) {
    if (candidate.saving <= 0 && pairs[candidate.queries] <= most) continue;
    if (pairs[candidate.keys] + candidate.pairs > most) continue;
    pairs[candidate.queries] -= candidate.pairs;
    pairs[candidate.keys] += candidate.pairs;
    moved.insert({static_cast<int>(candidate.queries), static_cast<int>(candidate.keys)});
  }
  return [moved = std::move(moved)](int query_group, int key_group) {
    return moved.contains({query_group, key_group}) ? Moving::q : Moving::kv;
  };
}

}  // namespace hsap
