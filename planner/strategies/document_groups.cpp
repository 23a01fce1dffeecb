#include "planner/strategies/document_groups.hpp"

#include <algorithm>
#include <queue>
#include <utility>

#include "planner/placement/placement.hpp"
#include "planner/strategies/ring_pass.hpp"

namespace hsap {

void RankLoads::deal(const DocumentMask& mask, std::vector<TokenRange> documents, std::vector<DocumentGroup>& groups) {
  std::vector<std::pair<double, TokenRange>> costs;  // pairs of the document
  for (const TokenRange& document : documents)
    costs.emplace_back(static_cast<double>(mask.pairs(TokenSet{document}, TokenSet{document})), document);
  std::stable_sort(costs.begin(), costs.end(), [](const auto& a, const auto& b) { return a.first > b.first; });

  using Candidate = std::pair<double, std::size_t>;  // load of the busiest rank, group
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> least;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    double busiest = 0;
    for (const RankId rank : groups[g].ranks) busiest = std::max(busiest, loads_[rank]);
    least.emplace(busiest, g);
  }
  for (const auto& [pairs, document] : costs) {
    const auto [busiest, g] = least.top();
    least.pop();
    DocumentGroup& group = groups[g];
    const double share = pairs / static_cast<double>(group.ranks.size());
    for (const RankId rank : group.ranks) loads_[rank] += share;
    group.documents.push_back(document);
    least.emplace(busiest + share, g);
  }
}

Schedule compile_groups(const std::string& strategy, const Degrees& degrees, const Problem& problem,
                        const std::vector<DocumentGroup>& groups, const PassOn& pass) {
  std::vector<std::vector<TokenRange>> owned(static_cast<std::size_t>(problem.ranks));
  for (const DocumentGroup& group : groups) {
    const Placement shards = place_zigzag(group.documents, static_cast<int>(group.ranks.size()));
    for (std::size_t i = 0; i < shards.size(); ++i) {
      std::vector<TokenRange>& tokens = owned[group.ranks[i]];
      tokens.insert(tokens.end(), shards[i].ranges().begin(), shards[i].ranges().end());
    }
  }
  std::vector<TokenSet> tokens;
  for (std::vector<TokenRange>& ranges : owned) tokens.emplace_back(std::move(ranges));
  ProgramBuilder builder(strategy, degrees, problem, tokens);
  for (const DocumentGroup& group : groups) {
    if (group.documents.empty()) continue;
    const TokenSet documents(group.documents);
    std::vector<View> views;
    for (const RankId rank : group.ranks) views.push_back(part_of(builder, boundary_view(builder, rank), documents));
    if (views.size() == 1) {
      attend_locally(builder, views.front());
      continue;
    }
    std::vector<RingPlace> places;
    for (const View& view : views) places.push_back(place_by_halves(builder, view));
    ring_pass(builder, std::move(places), {.pass = pass});
  }
  return builder.take();
}

}  // namespace hsap
