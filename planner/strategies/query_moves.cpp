#include "planner/strategies/query_moves.hpp"

#include <algorithm>
#include <numeric>
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
    std::size_t keys;  // group
    double pairs, saving;
  };
  std::vector<std::vector<Candidate>> candidates(groups.size());  // [query group]
  for_each_need(problem.mask, groups, [&](const Need& need) {
    const TokenSet queries = queries_of(need, problem.mask, groups);
    candidates[static_cast<std::size_t>(need.query_group)].push_back(
        {static_cast<std::size_t>(need.key_group), static_cast<double>(problem.mask.pairs(queries, need.keys)),
         kv_bytes * static_cast<double>(need.keys.size()) - q_bytes * static_cast<double>(queries.size())});
  });
  std::vector<std::size_t> busiest_first(groups.size());
  std::iota(busiest_first.begin(), busiest_first.end(), std::size_t{0});
  std::stable_sort(busiest_first.begin(), busiest_first.end(),
                   [&](std::size_t a, std::size_t b) { return pairs[a] > pairs[b]; });

  std::set<std::pair<int, int>> moved;
  for (const std::size_t group : busiest_first) {
    std::stable_sort(candidates[group].begin(), candidates[group].end(), [&](const Candidate& a, const Candidate& b) {
      return a.saving != b.saving ? a.saving > b.saving : pairs[a.keys] < pairs[b.keys];
    });
    for (const Candidate& candidate : candidates[group]) {
      if (candidate.saving <= 0 && pairs[group] <= most) break;
      if (pairs[candidate.keys] + candidate.pairs > most) continue;
      pairs[group] -= candidate.pairs;
      pairs[candidate.keys] += candidate.pairs;
      moved.insert({static_cast<int>(group), static_cast<int>(candidate.keys)});
    }
  }
  return [moved = std::move(moved)](int query_group, int key_group) {
    return moved.contains({query_group, key_group}) ? Moving::q : Moving::kv;
  };
}

}  // namespace hsap
